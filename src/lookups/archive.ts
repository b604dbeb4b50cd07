// The archive of a finished part. The job gives a new signed URL for each download, so no URL is
// stored.
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import * as atlas from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { type Downloads, download } from '../upstream/http/download.ts';
import type { StreamedResponse, Upstream } from '../upstream/http/upstream-client.ts';
import type { BulkOptions, BulkPart } from './lookup.ts';
import { queryOf } from './part.ts';

const expired = (): UpstreamError =>
  new UpstreamError('The upstream no longer has this part. Start the look-up again.', {
    operation: 'bulkJob',
    code: 'RESULT_EXPIRED',
    status: 410,
    retryable: false,
  });

const unreadable = (): UpstreamError =>
  new UpstreamError('The upstream did not give this part, although it is complete. Try again.', {
    operation: 'bulkJob',
    code: 'UPSTREAM_UNAVAILABLE',
    retryable: true,
  });

/** The URL of a job's archive. */
async function urlOf(up: Upstream, jobId: string): Promise<string> {
  try {
    const { download_url: url } = await atlas.bulkJob(up, jobId);
    if (url != null) return url;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw error.failure.status === 404 || error.failure.status === 410 ? expired() : error;
  }
  throw unreadable();
}

/**
 * Starts to download a part's archive.
 *
 * @param headers - such as `range`
 * @returns the response with status 200, 206, 304 or 416, its body unread
 * @throws UpstreamError RESULT_EXPIRED when the upstream has deleted it
 */
export async function openArchive(
  up: Upstream,
  downloads: Downloads,
  { jobId }: BulkPart,
  what: { readonly hashes: readonly string[]; readonly options: BulkOptions },
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamedResponse> {
  const { receivedBytes: maxBytes } = archiveLimits({
    proteins: what.hashes.length,
    perResidue: what.options.residueFeatures,
  });
  if (jobId === null) {
    const sent = await atlas.bulk(up, queryOf(what.hashes, what.options));
    if (sent.kind === 'zip') return sent.answer;
    throw unreadable();
  }
  // The second try is for a URL that expired before it was used.
  for (let tries = 0; tries < 2; tries += 1) {
    const answer = await download(up, downloads, await urlOf(up, jobId), { headers, maxBytes });
    if (answer !== null) return answer;
  }
  throw unreadable();
}
