// Requests to become a WebSocket: which are accepted, and how the others are refused.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { isListed } from '../plugins/response-headers.ts';
import { requestPath } from '../request-target.ts';

export interface UpgradeRules {
  /** Path that WebSockets are served at. */
  readonly path: string;
  /** Other origins whose pages may connect. Clients other than browsers send no Origin. */
  readonly origins: readonly string[];
}

/** How long the client may take to receive a refusal. */
const REFUSAL_MS = 1_000;

// Browsers let a page of any site connect to any address, so the page's origin is checked here.
function isAllowedOrigin({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined || isListed(origin, origins)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * Whether a request asks for WebSocket. Other protocols are offers that a server may pass over (RFC 9110,
 * section 7.8), such as the HTTP/2 that Java's HttpClient offers with every first request.
 */
export const isWebSocketRequest = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * The status line that an upgrade is refused with; undefined when it is accepted.
 *
 * @param request - with its target normalized
 */
export function upgradeRefusal(request: IncomingMessage, rules: UpgradeRules): string | undefined {
  if (requestPath(request) !== rules.path) return '404 Not Found';
  return isAllowedOrigin(request, rules.origins) ? undefined : '403 Forbidden';
}

/** Why a request for another protocol is refused by a Node that has taken it for an upgrade already. */
export const OTHER_PROTOCOL =
  'Send the request without the header `Upgrade`: no protocol is offered here but WebSocket at /graphql. ' +
  '(Java: HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))\n';

/** Answers an upgrade with a status and closes the connection, even with unread or unsent data. */
export function refuseUpgrade(socket: Duplex, status: string, text = ''): void {
  const late = setTimeout(() => socket.destroy(), REFUSAL_MS);
  socket.once('close', () => clearTimeout(late));
  socket.once('finish', () => socket.destroy());
  // Read and drop the client's data: closing with unread bytes resets the connection, and the
  // response is lost.
  socket.resume();
  const type = text === '' ? '' : 'Content-Type: text/plain; charset=utf-8\r\n';
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${type}${length}\r\n\r\n${text}`);
}
