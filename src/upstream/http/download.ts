// Downloads from a signed URL, without a token and only from allowed hosts. The URL is a secret: no
// message and no report contains it.
import { unknownHost } from '../errors.ts';
import { discard } from './response-body.ts';
import { toUpstreamError } from './response-error.ts';
import { callAnyStatus, type StreamedResponse, type Upstream } from './upstream-client.ts';

/** Without a scheme it means https; a path alone, the upstream's host. @throws UpstreamError */
export function signedUrl({ settings }: Pick<Upstream, 'settings'>, text: string): URL {
  const isPath = /^\/(?!\/)/.test(text);
  const url = isPath || /^https?:\/\//i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`;
  if (!URL.canParse(url, settings.baseUrl)) throw unknownHost();
  return new URL(url, settings.baseUrl);
}

export interface DownloadOptions {
  /** Such as `range`; never an authorization. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes of an honest file; the usual limit when absent. */
  readonly maxBytes?: number | undefined;
}

const DELIVERED = new Set([200, 206, 304, 416]);
const EXPIRED = new Set([400, 401, 403, 410]);

/**
 * Whether an answer is a range of a file that is stored compressed: it cannot be read by itself.
 */
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
  text: string,
  { headers = {}, maxBytes }: DownloadOptions = {},
): Promise<StreamedResponse | null> {
  const answer = await callAnyStatus(up, {
    operation: 'download',
    api: 'file',
    method: 'GET',
    path: signedUrl(up, text).href,
    headers,
    maxBytes,
    isRepeatable: true,
  });
  const { range, 'if-range': _, ...others } = headers;
  if (DELIVERED.has(answer.status) && (range === undefined || !isCompressedRange(answer))) return answer;
  discard(answer);
  if (EXPIRED.has(answer.status)) return null;
  if (!DELIVERED.has(answer.status)) throw await toUpstreamError(up, answer);
  return download(up, text, { headers: others, maxBytes });
}
