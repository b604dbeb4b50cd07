// The rows of a whole look-up in request order. Memory holds the rows of one part, and those of
// repeated hashes until their last appearance. A part that cannot be read yields rows that say why.
import { UpstreamError } from '../upstream/errors.ts';
import type { StreamedResponse } from '../upstream/http/upstream-client.ts';
import type { ExportRow, RowStatus } from './export-row.ts';
import {
  type BulkLookup,
  type BulkPart,
  type BulkRequest,
  chunkHashes,
  hasArchive,
  hashesOfChunk,
  PART_SIZE,
} from './lookup.ts';
import { type RowSources, readPartRows } from './part-rows.ts';

/** Where the rows of a look-up are read. */
export interface ExportSources extends RowSources {
  openPart(part: BulkPart, hashes: readonly string[]): Promise<StreamedResponse>;
  /** Receives the error of each part that could not be read. */
  onGap(error: unknown, index: number): void;
}

/** Whether the upstream has deleted the part. */
export const isExpired = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure.code === 'RESULT_EXPIRED';

const gapOf = ({ state }: BulkPart): RowStatus =>
  state === 'CANCELLED' || state === 'EXPIRED' || state === 'FAILED' ? state : 'UNAVAILABLE';

/** Number of appearances of each hash, to free a row after its last one. */
function occurrences(hashes: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return counts;
}

export async function* lookupRows(
  lookup: BulkLookup,
  { hashes, requested: identifiers, options }: BulkRequest,
  sources: ExportSources,
): AsyncGenerator<ExportRow> {
  const { unique } = chunkHashes(hashes);
  const left = occurrences(hashes);
  const partOf = new Map(unique.map((hash, i) => [hash, Math.floor(i / PART_SIZE)]));
  const rows = new Map<string, ExportRow>();

  async function load(index: number): Promise<void> {
    const part = lookup.parts[index];
    const ofPart = hashesOfChunk(unique, index);
    let status: RowStatus = part === undefined ? 'UNAVAILABLE' : gapOf(part);
    if (part !== undefined && hasArchive(part)) {
      try {
        const archive = await sources.openPart(part, ofPart);
        const read = await readPartRows(archive.body, ofPart, options, sources);
        // A protein that a cancelled part does not contain may exist.
        const absent = part.state === 'CANCELLED' ? 'CANCELLED' : 'NOT_IN_ATLAS';
        for (const [hash, row] of read)
          rows.set(hash, row.status === 'NOT_IN_ATLAS' ? { hash, status: absent } : row);
        return;
      } catch (error) {
        sources.onGap(error, index);
        status = isExpired(error) ? 'EXPIRED' : 'UNAVAILABLE';
      }
    }
    for (const hash of ofPart) rows.set(hash, { hash, status });
  }

  for (const [i, hash] of hashes.entries()) {
    if (!rows.has(hash)) await load(partOf.get(hash) ?? 0);
    const requested = identifiers?.[i];
    const row = rows.get(hash) ?? { hash, status: 'UNAVAILABLE' };
    yield requested === undefined || requested === hash ? row : { requested, ...row };
    const more = (left.get(hash) ?? 1) - 1;
    left.set(hash, more);
    if (more === 0) rows.delete(hash);
  }
}
