// Refuses requests that were sent to another name than the gateway's, before anything reads them: a page of another site that
// has its own name point here. It must not know what is asked.
import type { Plugin } from 'graphql-yoga';
import { incomingOf } from '../callers/connection.ts';
import { isOwnHost } from '../callers/host.ts';
import { foreignHost } from '../callers/refusal.ts';
import { refused } from './refused.ts';

/** @param publicUrl - where callers reach the gateway when it is behind a proxy */
export const useOwnHost = (publicUrl: string | undefined): Plugin => ({
  onRequest({ request, serverContext, endResponse }) {
    const incoming = incomingOf(serverContext);
    if (incoming !== undefined && !isOwnHost(incoming.headers.host, publicUrl))
      endResponse(refused(request, foreignHost()));
  },
});
