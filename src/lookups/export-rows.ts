// The rows of a whole look-up in request order. Memory holds the rows of one part, and those of
// repeated hashes until their last appearance. A part that cannot be read yields rows that say why.
import { UpstreamError } from '../upstream/errors.ts';
import type { StreamedResponse } from '../upstream/http/upstream-client.ts';
import type { ProteinLoader } from '../upstream/proteins/protein-loader.ts';
import type { WireMapping } from '../upstream/renames.ts';
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
import { completeRows, readPartRows } from './part-rows.ts';

/** Opens the archive of a part. */
export type OpenPart = (
  index: number,
  part: BulkPart,
  hashes: readonly string[],
) => Promise<StreamedResponse>;

/** Whether the upstream has deleted the part. */
export const isExpired = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure.code === 'RESULT_EXPIRED';

const gapOf = ({ state }: BulkPart): RowStatus =>
  state === 'CANCELLED' || state === 'EXPIRED' || state === 'FAILED' ? state : 'UNAVAILABLE';

/** Labels of features, by index. */
type FeatureLabels = ReadonlyMap<number, { readonly label: string }>;

/** Adds the labels that the archive left out. */
async function labelled(
  rows: ReadonlyMap<string, ExportRow>,
  labelsOf: () => Promise<FeatureLabels>,
): Promise<ReadonlyMap<string, ExportRow>> {
  const isUnlabelled = ({ features }: ExportRow) => features?.some(({ label }) => label === null) === true;
  if (![...rows.values()].some(isUnlabelled)) return rows;
  const labels = await labelsOf();
  return new Map(
    Array.from(rows, ([hash, row]) => [
      hash,
      row.features === undefined
        ? row
        : {
            ...row,
            features: row.features.map(({ label, ...one }) => ({
              ...one,
              label: label ?? labels.get(one.index)?.label ?? null,
            })),
          },
    ]),
  );
}

/** Number of appearances of each hash, to free a row after its last one. */
function occurrences(hashes: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  return counts;
}

/**
 * Rows in request order, duplicates repeated.
 *
 * @param structureUrl - the address of a structure at the gateway, by hash
 * @param openProteins - creates a loader for the proteins of one part
 * @param labelsOf - loads labels that an archive leaves out
 * @param onGap - receives each part that could not be read
 * @param mapping - names that the deployment uses instead of those of the contract
 */
export async function* lookupRows(
  lookup: BulkLookup,
  ask: BulkRequest,
  open: OpenPart,
  structureUrl: (hash: string) => string,
  openProteins: () => Promise<Pick<ProteinLoader, 'loadAll'>>,
  labelsOf: () => Promise<FeatureLabels>,
  onGap: (error: unknown, index: number) => void,
  mapping?: WireMapping,
): AsyncGenerator<ExportRow> {
  const { unique } = chunkHashes(ask.hashes);
  const left = occurrences(ask.hashes);
  const partOf = new Map(unique.map((hash, i) => [hash, Math.floor(i / PART_SIZE)]));
  const rows = new Map<string, ExportRow>();

  async function load(index: number): Promise<void> {
    const part = lookup.parts[index];
    const hashes = hashesOfChunk(unique, index);
    let status: RowStatus = part === undefined ? 'UNAVAILABLE' : gapOf(part);
    if (part !== undefined && hasArchive(part)) {
      try {
        const archive = await open(index, part, hashes);
        const partRows = await readPartRows(archive.body, hashes, ask.options, structureUrl, mapping);
        const found = await completeRows(partRows, ask.options, structureUrl, openProteins);
        const read = await labelled(found, labelsOf);
        // A protein that a cancelled part does not contain may exist.
        const absent = lookup.parts[index]?.state === 'CANCELLED' ? 'CANCELLED' : 'NOT_IN_ATLAS';
        for (const [hash, row] of read)
          rows.set(hash, row.status === 'NOT_IN_ATLAS' ? { hash, status: absent } : row);
        return;
      } catch (error) {
        onGap(error, index);
        status = isExpired(error) ? 'EXPIRED' : 'UNAVAILABLE';
      }
    }
    for (const hash of hashes) rows.set(hash, { hash, status });
  }

  for (const [i, hash] of ask.hashes.entries()) {
    if (!rows.has(hash)) await load(partOf.get(hash) ?? 0);
    const requested = ask.requested?.[i];
    const row = rows.get(hash) ?? { hash, status: 'UNAVAILABLE' };
    yield requested === undefined || requested === hash ? row : { requested, ...row };
    const more = (left.get(hash) ?? 1) - 1;
    left.set(hash, more);
    if (more === 0) rows.delete(hash);
  }
}
