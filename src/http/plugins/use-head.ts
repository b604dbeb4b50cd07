// HEAD of the GraphQL endpoint: the status and the headers of the same GET, without its body. Yoga
// knows GET and POST only, so it is given a GET; the last plugin takes the body away again.
import type { Plugin } from 'graphql-yoga';
import { bodyOf } from '../response-cache/use-response-cache.ts';

/** Makes both plugins: the first to see a request, and the last to see its response. */
export function headPlugins(): {
  first: Plugin;
  last: Plugin;
  /** Whether the client sent HEAD, for what counts requests by method. */
  isHead(request: Request): boolean;
} {
  const asHead = new WeakSet<Request>();
  return {
    isHead: (request) => asHead.has(request),
    first: {
      onRequest({ request, url, fetchAPI, setRequest }) {
        if (request.method !== 'HEAD' || url.pathname !== '/graphql') return;
        const { headers, signal } = request;
        const get = new fetchAPI.Request(request.url, { method: 'GET', headers, signal });
        asHead.add(get);
        setRequest(get);
      },
    },
    last: {
      async onResponse({ request, response, setResponse, fetchAPI }) {
        if (!asHead.has(request)) return;
        const { status, statusText, headers } = response;
        const body = bodyOf(response);
        if (body !== undefined && status !== 304)
          headers.set('content-length', String(Buffer.byteLength(body)));
        // Ends a stream, and with it a subscription.
        await response.body?.cancel();
        setResponse(new fetchAPI.Response(null, { status, statusText, headers }));
      },
    },
  };
}
