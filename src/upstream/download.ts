// Fetches what a signed URL points to: without a token, only from places that a signed URL may name. It knows nothing
// of what is downloaded. The URL is a secret: it stands in no message and no report.
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { UpstreamError } from './errors.ts';
import { type Answer, networkFailure, type Upstream } from './http.ts';

const inward = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  inward.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  inward.addSubnet(network, bits, 'ipv6');
}

/** Whether an address lies on the public internet; addresses inside a company, a machine or a cloud's metadata do not. */
export const isPublicAddress = (address: string): boolean => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  const family = isIP(plain);
  return family !== 0 && !inward.check(plain, family === 6 ? 'ipv6' : 'ipv4');
};

/** The error code of a name that leads inward. */
const NOT_PUBLIC = 'ENOTPUBLIC';

/** Resolves a name and refuses it when any of its addresses is not public, at the moment of connecting: no second look-up can differ. */
const publicLookup: LookupFunction = (hostname, options, done) => {
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
export const openPublicAgent = (): Agent => new Agent({ connect: { timeout: 10_000, lookup: publicLookup } });

const LATEST_START_MS = 120_000;

const refuse = (operation: string, message: string, status?: number): UpstreamError =>
  new UpstreamError(message, { operation, code: 'UPSTREAM_DRIFT', status, retryable: false });

const notFollowed = (): UpstreamError =>
  refuse(
    'download',
    'The upstream gave a download address that the gateway does not follow (DOWNLOAD_HOSTS lists the hosts that it may).',
  );

/** A signed URL as a URL. One without a scheme (`host/path?signature`) is taken as https; a path alone as the upstream's own. */
export function signedUrl(up: Pick<Upstream, 'settings'>, text: string): URL {
  if (/^https?:\/\//i.test(text)) return new URL(text);
  if (text.startsWith('//')) return new URL(`https:${text}`);
  if (text.startsWith('/')) return new URL(text, up.settings.baseUrl);
  return new URL(`https://${text}`);
}

/** What a download needs beside the request's upstream. */
export interface Downloads {
  readonly publicAgent: Dispatcher;
}

/** Chooses the connections for a URL: the upstream's own host and the configured hosts by the common pool, any other by the one that only reaches public addresses. */
function agentFor(up: Upstream, downloads: Downloads, url: URL): Dispatcher {
  const own = new URL(up.settings.baseUrl);
  if (url.host === own.host && url.protocol === own.protocol) return up.agent;
  if (up.settings.downloadHosts.includes(url.host) || up.settings.downloadHosts.includes(url.hostname))
    return up.agent;
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' || (isIP(literal) !== 0 && !isPublicAddress(literal))) {
    throw notFollowed();
  }
  return downloads.publicAgent;
}

/**
 * Starts a download. Redirects are not followed.
 *
 * @param text - the signed URL as the upstream gave it
 * @param headers - such as `range`; never an authorization
 * @returns the answer, its body unread, of status 200, 206 or 304 (or 416 for a range outside the file); null when the URL has expired (400, 403, 410): read Status again
 * @throws UpstreamError for a place that may not be contacted, and for every other failure
 */
export async function download(
  up: Upstream,
  downloads: Downloads,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer | null> {
  const operation = 'download';
  const url = signedUrl(up, text);
  const dispatcher = agentFor(up, downloads, url);
  // Whoever stores the file is no part of the trace: it is sent nothing of it.
  const traced = up.startCall?.(operation);
  const started = performance.now();
  const report = (status: number) => {
    const ended = { operation, status, milliseconds: performance.now() - started };
    traced?.ended(ended);
    up.onCall(ended);
  };
  // The deadline is for the beginning of the answer: a large file may take its time to a slow reader.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('too late', 'TimeoutError')), LATEST_START_MS);
  const signal = up.signal === undefined ? late.signal : AbortSignal.any([up.signal, late.signal]);
  let answer: Dispatcher.ResponseData;
  try {
    answer = await request(url, { dispatcher, method: 'GET', headers, signal });
    report(answer.statusCode);
  } catch (error) {
    report(0);
    if (error instanceof Error && 'code' in error && error.code === NOT_PUBLIC) throw notFollowed();
    throw networkFailure(operation, error, up.signal);
  } finally {
    clearTimeout(timer);
  }
  const { statusCode: status } = answer;
  if ([200, 206, 304, 416].includes(status))
    return { status, headers: answer.headers, body: answer.body, call: { operation } };
  await answer.body.dump();
  if ([400, 403, 410].includes(status)) return null;
  throw new UpstreamError(`A download was answered with HTTP ${status}.`, {
    operation,
    code: status >= 500 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_DRIFT',
    status,
    retryable: status >= 500,
  });
}
