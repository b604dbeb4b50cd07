// Requests whose address cannot be read, and plain answers in place of those that the gateway fails
// to make: the server adapter would answer with a stack trace.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

const BROKEN =
  'Something went wrong inside the gateway. Quote the x-request-id of this answer when you report it.\n';
const PLAIN = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Ends an answer of node:http that has not begun. */
export const destroyResponse = (response: ServerResponse): void =>
  void (response.headersSent ? response.destroy() : response.writeHead(500, PLAIN).end(BROKEN));

export const brokenResponse = (): Response => new Response(BROKEN, { status: 500, headers: PLAIN });

/** Whether the address of a request can be read at all: its Host header and its path make a URL. */
function isParsableUrl({ headers: { host = 'localhost' }, url = '/' }: IncomingMessage): boolean {
  if (host === lastAddress.host && url === lastAddress.url) return true;
  if (!URL.canParse(url, `http://${host}`) || !URL.canParse(`http://${host}${url}`)) return false;
  lastAddress = { host, url };
  return true;
}
/** What could be read last: most requests go where others have just gone. */
let lastAddress = { host: '', url: '' };

const ABSOLUTE_FORM = /^https?:\/\//i;

/**
 * Turns an absolute-form request target (`GET http://host/path`, as proxies send it) into a path.
 * Its host replaces the Host header (RFC 9112, section 3.2.2).
 */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '' } = request;
  if (!ABSOLUTE_FORM.test(url) || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.url = pathname + search;
  request.headers.host = host;
}

/** The same listener, which refuses requests whose address cannot be read. */
export const wrapListener =
  (listener: RequestListener): RequestListener =>
  (request: IncomingMessage, response: ServerResponse & { req: IncomingMessage }) => {
    if (isParsableUrl(request)) return listener(request, response);
    response
      .writeHead(400, { ...PLAIN, connection: 'close' })
      .end('The address of this request cannot be read.\n');
  };
