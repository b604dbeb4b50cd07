// Reads path and host of a request, once: the checks, the cache, the routes and the log use what
// this file has written into the request, so that they cannot read it in different ways.
import type { IncomingMessage } from 'node:http';

/** Characters of a host name, an IP address or a port. */
const HOST = /^[A-Za-z0-9._:[\]-]+$/;

/** Paths of monitoring, which is always answered: neither counted nor refused. */
const MONITORING_PATHS: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** The part of a request that is needed to read its target. */
export type TargetRequest = Pick<
  IncomingMessage,
  'url' | 'headers' | 'rawHeaders' | 'httpVersionMajor' | 'httpVersionMinor'
>;

function countHostHeaders(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** Paths that a URL has as they are. */
const PLAIN_PATH = /^(?:\/[\w-]+)+$/;
/** The last Host header that was one: most requests have the same. */
let lastHost: string | undefined;

/** The URL of a request; undefined where its Host header or its path is not valid. */
function parseTarget(url: string, host: string): URL | undefined {
  if (!HOST.test(host)) return undefined;
  // Proxies may send an absolute address, whose host replaces the header (RFC 9112, section 3.2.2).
  const absolute = url.startsWith('/') ? `http://${host}${url}` : url;
  if (!/^https?:\/\//i.test(absolute) || !URL.canParse(absolute)) return undefined;
  const parsed = new URL(absolute);
  return HOST.test(parsed.host) && parsed.username === '' && parsed.password === '' ? parsed : undefined;
}

/**
 * Replaces the target of a request by its path and search as a URL has them, and its Host header by
 * the host of an absolute target.
 *
 * @returns false where the request must be refused with status 400: a Host header that is missing,
 *   repeated or no host, or an invalid path
 */
export function normalizeTarget(request: TargetRequest): boolean {
  const { url = '', headers, rawHeaders, httpVersionMajor, httpVersionMinor } = request;
  const count = countHostHeaders(rawHeaders);
  // Only HTTP/1.0 knows requests without a Host.
  const isHostOptional = httpVersionMajor === 1 && httpVersionMinor === 0;
  if (count > 1 || (count === 0 && !isHostOptional)) return false;
  const { host = 'localhost' } = headers;
  if (host === lastHost && PLAIN_PATH.test(url)) return true;
  const parsed = parseTarget(url, host);
  if (parsed === undefined) return false;
  if (url.startsWith('/')) lastHost = host;
  else headers.host = parsed.host;
  request.url = parsed.pathname + parsed.search;
  return true;
}

/** The path of a request whose target has been normalized, without its search. */
export function requestPath({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const search = url.indexOf('?');
  return search < 0 ? url : url.slice(0, search);
}

export const isMonitoring = (path: string): boolean => MONITORING_PATHS.has(path);

/**
 * Whether a request asks for WebSocket. A server may ignore offers of other protocols (RFC 9110,
 * section 7.8), such as the HTTP/2 that Java's HttpClient offers with every first request.
 */
export const isWebSocketRequest = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** The answer to a request with an invalid target. */
export const INVALID_TARGET =
  'The Host header or the path of this request is not valid. Send one Host header with a host name or an ' +
  'IP address, and a port if there is one.\n';
