// Downloads from a signed URL, without a token and only from allowed hosts. The URL is a secret: no
// message and no report contains it.
import { unknownHost } from '../errors.ts';
import { toUpstreamError } from './response-error.ts';
import { discard } from './response-stream.ts';
import {
  type Call,
  callAnyStatus,
  openStream,
  type StreamedResponse,
  type Upstream,
} from './upstream-client.ts';

/** Without a scheme it means https; a path alone, the upstream's host. @throws UpstreamError */
export function signedUrl({ settings }: Pick<Upstream, 'settings'>, text: string): URL {
  const isPath = /^\/(?!\/)/.test(text);
  const url = isPath || /^https?:\/\//i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`;
  if (!URL.canParse(url, settings.baseUrl)) throw unknownHost();
  return new URL(url, settings.baseUrl);
}

const EXPIRED = new Set([400, 401, 403, 410]);

const fileCall = (up: Upstream, text: string, more: Pick<Call, 'headers' | 'maxBytes'>): Call => ({
  operation: 'download',
  api: 'file',
  method: 'GET',
  path: signedUrl(up, text).href,
  isRepeatable: true,
  ...more,
});

/**
 * Downloads a whole file. Redirects are not followed.
 *
 * @param text - the signed URL as the upstream gave it
 * @param maxBytes - of an honest file; the usual limit when absent
 * @returns null when the URL has expired (400, 401, 403, 410): read Status again
 * @throws UpstreamError for a forbidden host, and for every other failure
 */
export async function download(up: Upstream, text: string, maxBytes?: number): Promise<Buffer | null> {
  const answer = await callAnyStatus(up, fileCall(up, text, { maxBytes }));
  if (EXPIRED.has(answer.status)) return null;
  if (answer.status !== 200) throw await toUpstreamError(up, answer);
  return answer.body;
}

export interface DownloadOptions {
  /** Such as `range`; never an authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes of an honest file; the usual limit when absent. */
  readonly maxBytes?: number | undefined;
}

const DELIVERED = new Set([200, 206, 304, 416]);

/**
 * Whether an answer is a range of a file that is stored compressed: it cannot be read by itself.
 */
const isCompressedRange = ({ status, headers }: StreamedResponse): boolean =>
  status === 206 && !['', 'identity'].includes(String(headers['content-encoding'] ?? '').toLowerCase());

/**
 * Starts a download that is streamed. Of a file that is stored compressed there are no ranges: it
 * comes as a whole.
 *
 * @param text - the signed URL as the upstream gave it
 * @returns the unread answer of status 200, 206, 304 or 416; null when the URL has expired
 * @throws UpstreamError as `download`
 */
export async function openDownload(
  up: Upstream,
  text: string,
  { headers = {}, maxBytes }: DownloadOptions = {},
): Promise<StreamedResponse | null> {
  const answer = await openStream(up, fileCall(up, text, { headers, maxBytes }));
  const { range, 'if-range': _, ...others } = headers;
  if (DELIVERED.has(answer.status) && (range === undefined || !isCompressedRange(answer))) return answer;
  if (EXPIRED.has(answer.status)) {
    discard(answer);
    return null;
  }
  if (!DELIVERED.has(answer.status)) throw await toUpstreamError(up, answer);
  discard(answer);
  return openDownload(up, text, { headers: others, maxBytes });
}
