// Requests to become a WebSocket: which are accepted, and how the others are refused.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { loopbackRefusal } from '../access/loopback.ts';
import {
  INVALID_TARGET,
  isWebSocketRequest,
  normalizeTarget,
  requestPath,
} from '../server/request-target.ts';
import { isListed } from '../server/response-headers.ts';

/** Path that WebSockets are served at. */
export const PATH = '/graphql';

export interface UpgradeRules {
  /** Other origins whose pages may connect. Clients other than browsers send no Origin. */
  readonly origins: readonly string[];
  /** Whether the gateway holds a key for this machine only and asks for no proof. */
  readonly keyForLoopback?: boolean;
}

export interface UpgradeRefusal {
  /** Such as `404 Not Found`. */
  readonly status: string;
  readonly text?: string;
}

/**
 * Why a request for another protocol is refused by a Node that has taken it for an upgrade already.
 */
const OTHER_PROTOCOL =
  'Send the request without the header `Upgrade`: no protocol is offered here but WebSocket at /graphql. ' +
  '(Java: HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))\n';

/**
 * Browsers let a page of any site open a WebSocket to any address, so the page's origin is checked
 * here.
 */
function isAllowedOrigin({ origin, host }: IncomingMessage['headers'], origins: readonly string[]): boolean {
  if (origin === undefined || isListed(origin, origins)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** Why an upgrade is refused; null when it is accepted. */
export function upgradeRefusal(request: IncomingMessage, rules: UpgradeRules): UpgradeRefusal | null {
  if (!normalizeTarget(request)) return { status: '400 Bad Request', text: INVALID_TARGET };
  if (!isWebSocketRequest(request)) return { status: '400 Bad Request', text: OTHER_PROTOCOL };
  if (requestPath(request) !== PATH) return { status: '404 Not Found' };
  if (!isAllowedOrigin(request.headers, rules.origins)) return { status: '403 Forbidden' };
  const notLocal = rules.keyForLoopback === true ? loopbackRefusal(request.headers) : null;
  return notLocal === null ? null : { status: '403 Forbidden', text: `${notLocal}\n` };
}

/** Answers an upgrade with a status and closes the connection. */
export function refuseUpgrade(socket: Duplex, { status, text = '' }: UpgradeRefusal): void {
  socket.once('finish', () => socket.destroy());
  // Closing with unread bytes would reset the connection, and the response would be lost.
  socket.resume();
  const type = text === '' ? '' : 'Content-Type: text/plain; charset=utf-8\r\n';
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${type}${length}\r\n\r\n${text}`);
}
