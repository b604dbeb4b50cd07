// Downloads from a signed URL, without a token and only from allowed hosts. The URL is a secret: no
// message and no report contains it.
import { UpstreamError } from '../errors.ts';
import type { Call, StreamedResponse, Upstream } from './call.ts';
import { readFileAddress } from './file-address.ts';
import { discard } from './response-body.ts';
import { toUpstreamError } from './response-error.ts';
import { callAnyStatus, openStream } from './upstream-client.ts';

const EXPIRED: ReadonlySet<number | undefined> = new Set([400, 401, 403, 410]);

const fileCall = (up: Upstream, text: string, more: Pick<Call, 'headers' | 'maxBytes'>): Call => ({
  operation: 'download',
  api: 'file',
  method: 'GET',
  path: readFileAddress(up.settings, text).href,
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
  { headers = {}, maxBytes }: Pick<Call, 'headers' | 'maxBytes'> = {},
): Promise<StreamedResponse | null> {
  try {
    const answer = await openStream(up, fileCall(up, text, { headers, maxBytes }));
    if (headers.range === undefined || !isCompressedRange(answer)) return answer;
    discard(answer);
  } catch (error) {
    if (error instanceof UpstreamError && EXPIRED.has(error.failure.status)) return null;
    throw error;
  }
  const { range: _, 'if-range': __, ...others } = headers;
  return openDownload(up, text, { headers: others, maxBytes });
}
