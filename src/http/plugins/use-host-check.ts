// Refuses requests that were sent to another name than the gateway's, before anything reads them: a page of another site that
// has its own name point here. It must not know what is asked.
import type { Plugin } from 'graphql-yoga';
import { foreignHost } from '../auth/auth-errors.ts';
import { isOwnHost } from '../auth/host-header.ts';
import { incomingOf } from '../auth/node-request.ts';
import { refused } from './error-response.ts';

/** @param publicUrl - where callers reach the gateway when it is behind a proxy */
export const useOwnHost = (publicUrl: string | undefined): Plugin => ({
  onRequest({ request, serverContext, endResponse }) {
    const incoming = incomingOf(serverContext);
    if (incoming !== undefined && !isOwnHost(incoming.headers.host, publicUrl))
      endResponse(refused(request, foreignHost()));
  },
});
