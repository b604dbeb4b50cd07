// Refuses requests that were sent to another name than the gateway's, before anything reads them: a
// page of another site that has its own name point here. It must not know what is asked.
import type { Plugin } from 'graphql-yoga';
import { hostNotAllowed } from '../auth/auth-errors.ts';
import { isAllowedHost } from '../auth/host-header.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { createErrorResponse } from './error-response.ts';
/**
 * Refuses requests whose Host header names another server (DNS rebinding).
 *
 * @param publicUrl - the gateway's URL when it is behind a proxy
 */
/** @param publicUrl - where callers reach the gateway when it is behind a proxy */
export const useHostCheck = (publicUrl: string | undefined): Plugin => ({
  onRequest({ request, serverContext, endResponse }) {
    const incoming = nodeRequestOf(serverContext);
    if (incoming !== undefined && !isAllowedHost(incoming.headers.host, publicUrl))
      endResponse(createErrorResponse(request, hostNotAllowed()));
  },
});
