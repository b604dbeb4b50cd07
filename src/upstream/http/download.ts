// Downloads from a signed URL, without a token and only from allowed hosts. The URL is a secret: no
// message and no report contains it.
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { ConnectError, codeOfStatus, retryAfterSeconds, UpstreamError } from '../errors.ts';
import { openAgent } from './connections.ts';
import type { HostLimiter } from './host-limiter.ts';
import { isPublicAddress } from './public-address.ts';
import { discard, headerValue } from './response-body.ts';
import { type OutgoingRequest, sendRequest, withRetry } from './send-request.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

/** The error code of a name that leads inward. */
const NOT_PUBLIC = 'ENOTPUBLIC';

/** Finds all addresses of a name, as `lookup` of node:dns does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Refuses non-public addresses while connecting: no second look-up can differ. */
const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '');
      const first = addresses[0];
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        return done(Object.assign(new Error('not a public address'), { code: NOT_PUBLIC }), '');
      }
      return options.all === true ? done(null, addresses) : done(null, first.address, first.family);
    });
  };

/** Connections that can only go to public addresses. Close it when the process ends. */
export const openPublicAgent = (resolve: Resolve = lookup): Agent =>
  openAgent({ lookup: publicLookup(resolve) });

const notFollowed = (): UpstreamError =>
  new UpstreamError(
    'The upstream gave a download address that the gateway does not follow ' +
      '(DOWNLOAD_HOSTS lists the hosts that it may).',
    { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false },
  );

/** Without a scheme it means https; a path alone, the upstream's host. @throws UpstreamError */
export function signedUrl(up: Pick<Upstream, 'settings'>, text: string): URL {
  const isPath = /^\/(?!\/)/.test(text);
  const url = isPath || /^https?:\/\//i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`;
  if (!URL.canParse(url, up.settings.baseUrl)) throw notFollowed();
  return new URL(url, up.settings.baseUrl);
}

/** What a download needs beside the request's upstream. */
export interface Downloads {
  readonly publicAgent: Dispatcher;
  /** The limiter to a host; without it every download begins at once. */
  readonly limiter?: ((host: string) => HostLimiter) | undefined;
}

export interface DownloadOptions {
  /** Such as `range`; never an authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes of an honest file; the usual limit when absent. */
  readonly maxBytes?: number | undefined;
}

/** The common connection pool for the upstream's and configured hosts, else the public-only one. */
function agentFor(up: Upstream, downloads: Downloads, url: URL): Dispatcher {
  const own = new URL(up.settings.baseUrl);
  if (url.host === own.host && url.protocol === own.protocol) return up.connections.pool;
  if (up.settings.downloadHosts.includes(url.host) || up.settings.downloadHosts.includes(url.hostname))
    return up.connections.pool;
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' || (isIP(literal) !== 0 && !isPublicAddress(literal))) {
    throw notFollowed();
  }
  return downloads.publicAgent;
}

/** Requests a file once. @throws UpstreamError */
async function requestFile(up: Upstream, wanted: OutgoingRequest): Promise<StreamedResponse | null> {
  const answer = await sendRequest(up, wanted).catch((error: unknown) => {
    const cause = error instanceof UpstreamError ? error.cause : undefined;
    throw cause instanceof ConnectError && cause.code === NOT_PUBLIC ? notFollowed() : error;
  });
  const { status, headers } = answer;
  if ([200, 206, 304, 416].includes(status)) return answer;
  discard(answer);
  if ([400, 401, 403, 410].includes(status)) return null;
  const isPassing = status >= 500 || status === 429 || status === 408;
  throw new UpstreamError(`A download was answered with HTTP ${status}.`, {
    operation: wanted.operation,
    // That a file is not there, or elsewhere, is nothing that the caller could mend.
    code: isPassing ? codeOfStatus(status) : 'UPSTREAM_DRIFT',
    status,
    retryable: isPassing,
    retryAfterSeconds: retryAfterSeconds(headerValue(headers['retry-after']), Date.now()),
  });
}

/** Whether an answer is a range of a file that is stored compressed: it cannot be read by itself. */
const isCompressedRange = ({ status, headers }: StreamedResponse): boolean =>
  status === 206 && !['', 'identity'].includes(String(headers['content-encoding'] ?? '').toLowerCase());

/**
 * Starts a download. Redirects are not followed. Of a file that is stored compressed there are no
 * ranges: it comes as a whole.
 *
 * @param text - the signed URL as the upstream gave it
 * @returns the unread answer of status 200, 206, 304 or 416; null when the URL has expired (400,
 *   401, 403, 410): read Status again
 * @throws UpstreamError for a forbidden host, and for every other failure
 */
export async function download(
  up: Upstream,
  downloads: Downloads,
  text: string,
  { headers = {}, maxBytes }: DownloadOptions = {},
): Promise<StreamedResponse | null> {
  const url = signedUrl(up, text);
  const dispatcher = agentFor(up, downloads, url);
  const limiter = downloads.limiter?.(url.host);
  const wanted: OutgoingRequest = {
    operation: 'download',
    method: 'GET',
    origin: url.origin,
    path: url.pathname + url.search,
    headers,
    maxBytes,
    dispatcher,
    limiter,
  };
  const answer = await withRetry(up.signal, () => requestFile(up, wanted));
  const { range, 'if-range': _, ...others } = headers;
  if (answer === null || range === undefined || !isCompressedRange(answer)) return answer;
  discard(answer);
  return download(up, downloads, text, { headers: others, maxBytes });
}
