// The archive of one part of a bulk look-up, streamed from the service.
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import { bulk } from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { type Downloads, download } from '../upstream/http/download.ts';
import type { StreamedResponse, Upstream } from '../upstream/http/upstream-client.ts';
import { type BulkLookup, type PartStatus, readPart, type StoredPart } from './bulk-lookup.ts';

const notGiven = (): UpstreamError =>
  new UpstreamError(
    'The service did not give the archive of this part, although it is complete. Try again.',
    {
      operation: 'bulkJob',
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
    },
  );

/**
 * Starts to download the archive of a part. A part that the service answered at once is asked for
 * again, as a whole.
 *
 * @param headers - such as `range`
 * @returns the response with status 200, 206, 304 or 416, its body unread; the status of the part
 *   where it has no archive
 * @throws UpstreamError
 */
export async function openPartArchive(
  up: Upstream,
  downloads: Downloads,
  lookup: BulkLookup,
  part: StoredPart,
  headers: Readonly<Record<string, string>>,
): Promise<StreamedResponse | PartStatus> {
  const { requestedCount, hashes } = part;
  if (hashes !== undefined) {
    const again = await bulk(up, { hashes, ...lookup.options });
    if (again.kind === 'zip') return again.answer;
    throw notGiven();
  }
  const { receivedBytes: maxBytes } = archiveLimits({
    proteins: requestedCount,
    perResidue: lookup.options.residueFeatures,
  });
  // The second try is for a URL that expired before it was used.
  for (let tries = 0; tries < 2; tries += 1) {
    const status = await readPart(up, lookup, part);
    if (status.error !== undefined) throw status.error;
    if (status.downloadUrl === null) return status;
    const answer = await download(up, downloads, status.downloadUrl, { headers, maxBytes });
    if (answer !== null) return answer;
  }
  throw notGiven();
}
