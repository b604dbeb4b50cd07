// The rows of a whole look-up in request order, each part read from its archive while it downloads
// and completed from single records. Memory holds the rows of one part, without structures and
// activations, and those of repeated hashes until their last appearance. A part that cannot be read
// yields rows that say why.
import { UpstreamError } from '../upstream/errors.ts';
import type { StreamedResponse } from '../upstream/http/upstream-client.ts';
import { isRankingOf } from '../upstream/proteins/activations.ts';
import type { PresentProtein } from '../upstream/proteins/protein-data.ts';
import type { LoadResult, ProteinLoader } from '../upstream/proteins/protein-loader.ts';
import type { RequiredParts } from '../upstream/proteins/required-parts.ts';
import type { ClusterLoader } from '../upstream/reads/cached-reads.ts';
import { type ExportRow, groupsOf, type RowStatus, type ValueGroup } from './export-row.ts';
import {
  type BulkLookup,
  type BulkOptions,
  type BulkPart,
  type BulkRequest,
  chunkHashes,
  hasArchive,
} from './lookup.ts';
import {
  type ArchiveSources,
  clusterOf,
  featuresOf,
  type Known,
  type PartReading,
  percent,
  readArchive,
} from './part-archive.ts';

/** The loaders of one part alone, so that its records can be freed. */
interface PartLoaders {
  readonly proteins: Pick<ProteinLoader, 'loadAll'>;
  readonly clusters: Pick<ClusterLoader, 'load'>;
}

interface ExportSources extends ArchiveSources {
  openPart(part: BulkPart, hashes: readonly string[]): Promise<StreamedResponse>;
  onGap(error: unknown, index: number): void;
  openLoaders(): Promise<PartLoaders>;
  /** Labels of features, by index, for archives that leave them out. */
  labelsOf(): Promise<ReadonlyMap<number, { readonly label: string | null }>>;
}

/** The same of a protein's own record, where an absent value is proven not to be there. */
function recordOf(data: PresentProtein, reading: PartReading, top: number, sources: ExportSources): Known {
  const { hash, sequence = null, accession = null, source = null, length = null, structure, scores } = data;
  const structureUrl = structure == null ? null : sources.structureUrl(hash);
  const [ptm, mean] = [structure?.ptm ?? scores?.ptm, structure?.meanPlddt ?? scores?.meanPlddt];
  return {
    sequence: { accession, source, length, sequence },
    structure: { ptm: ptm ?? null, meanPlddt: percent(mean), structureUrl },
    proteinFeatures: featuresOf(data.features?.values ?? [], top),
    cluster:
      data.cluster != null || reading.clusters.has(hash)
        ? clusterOf(reading, representativeOf(data))
        : { cluster: null },
  };
}

/** The record of a representative names none. */
const representativeOf = ({ hash, cluster }: PresentProtein): string => cluster?.representative ?? hash;

/**
 * Reads the records of the clusters that the archive does not tell of.
 *
 * @returns the representatives of those that could not be loaded
 */
async function takeClusters(
  reading: PartReading,
  loaded: readonly LoadResult[],
  loader: PartLoaders['clusters'],
): Promise<ReadonlySet<string>> {
  const unknown = new Set<string>();
  for (const data of loaded) {
    if (data === null || data instanceof Error) continue;
    if (!reading.clusters.has(representativeOf(data))) unknown.add(representativeOf(data));
  }
  const lost = new Set<string>();
  const take = async (representative: string): Promise<void> => {
    const found = await loader.load(representative);
    if (found !== null) reading.clusters.set(representative, found.record);
  };
  await Promise.all([...unknown].map((hash) => take(hash).catch(() => lost.add(hash))));
  return lost;
}

/** Reads from a loaded protein; undefined where there is none, or its record breaks the contract. */
function readLoaded<T>(data: LoadResult | undefined, read: (data: PresentProtein) => T): T | undefined {
  if (data == null || data instanceof Error) return undefined;
  try {
    return read(data);
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

type LoadRecords = (hashes: readonly string[]) => Promise<readonly LoadResult[]>;

/**
 * Takes the rankings of an archive that has activations alone where the record of one of its
 * proteins shows that they have the scale of rankings, which the service does not say.
 */
async function takeUnscaled(
  { known, clusters, unscaled }: PartReading,
  top: number,
  load: LoadRecords,
): Promise<void> {
  const active = [...unscaled].filter(([, values]) => values.length > 0).map(([hash]) => hash);
  // One whose record is needed anyway, where there is one.
  const sample = active.find((hash) => !clusters.has(hash)) ?? active[0];
  const [loaded] = sample === undefined ? [] : await load([sample]);
  const ranking = readLoaded(loaded, ({ features }) => features?.values) ?? [];
  const values = unscaled.get(sample ?? '') ?? [];
  const isScaled = isRankingOf(ranking, {
    indices: values.map(({ feature_index: index }) => index),
    values: values.map(({ value }) => value),
  });
  for (const [hash, own] of unscaled)
    if (isScaled || own.length === 0)
      known.set(hash, { ...known.get(hash), proteinFeatures: featuresOf(own, top) });
}

/** `header` makes the planner read records, and caches small parts of them for the next table. */
const needsOf = (wanted: readonly ValueGroup[], top: number): RequiredParts => ({
  header: true,
  sequence: true,
  ...(wanted.includes('structure') ? { ptm: true, meanPlddt: true } : {}),
  ...(wanted.includes('cluster') ? { link: true } : {}),
  ...(wanted.includes('proteinFeatures') ? { features: top } : {}),
});

/** Adds what the archive lacks. @returns the proteins that could not be loaded */
async function complete(
  reading: PartReading,
  wanted: readonly ValueGroup[],
  top: number,
  sources: ExportSources,
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  let loaders: Promise<PartLoaders> | undefined;
  const load: LoadRecords = async (hashes) => {
    loaders ??= sources.openLoaders();
    return (await loaders).proteins.loadAll(hashes, needsOf(wanted, top));
  };
  if (wanted.includes('proteinFeatures')) await takeUnscaled(reading, top, load);
  const isKnown = (values: Partial<ExportRow> | undefined, group: ValueGroup): boolean =>
    values !== undefined && (group !== 'structure' || values.ptm !== undefined);
  const lacking = [...reading.known].filter(([, known]) =>
    wanted.some((group) => !isKnown(known[group], group)),
  );
  if (lacking.length === 0) return failed;
  const loaded = await load(lacking.map(([hash]) => hash));
  const { clusters } = await (loaders ?? sources.openLoaders());
  const lost = wanted.includes('cluster') ? await takeClusters(reading, loaded, clusters) : new Set<string>();
  for (const [i, [hash, known]] of lacking.entries()) {
    const own = readLoaded(loaded[i], (data) =>
      lost.has(representativeOf(data)) ? undefined : recordOf(data, reading, top, sources),
    );
    if (own === undefined) failed.add(hash);
    else
      reading.known.set(hash, {
        ...own,
        ...known,
        structure: { ...own.structure, ...known.structure },
      });
  }
  return failed;
}

/** @returns a row for each requested hash, found or not, with what is asked for */
async function readPartRows(
  archive: AsyncIterable<Uint8Array>,
  hashes: readonly string[],
  options: BulkOptions,
  sources: ExportSources,
): Promise<ReadonlyMap<string, ExportRow>> {
  const reading = await readArchive(archive, hashes, options, sources);
  const wanted = groupsOf(options);
  const failed = await complete(reading, wanted, options.top, sources);
  // Only a complete list of sequences proves that a protein does not exist.
  const absent = reading.damaged ? 'DAMAGED' : reading.listed ? 'NOT_IN_ATLAS' : 'UNAVAILABLE';
  const rows = new Map(
    hashes.map((hash): [string, ExportRow] => {
      const known = reading.known.get(hash);
      if (known === undefined) return [hash, { hash, status: absent }];
      const status = failed.has(hash) ? 'UNAVAILABLE' : 'FOUND';
      const row: ExportRow = { hash, status };
      for (const group of wanted) Object.assign(row, known[group]);
      return [hash, row];
    }),
  );
  // Archives may leave labels out.
  const unlabelled = [...rows.values()].flatMap(({ features = [] }) =>
    features.filter(({ label }) => label === null),
  );
  const labels = unlabelled.length > 0 ? await sources.labelsOf() : undefined;
  for (const feature of unlabelled) feature.label = labels?.get(feature.index)?.label ?? null;
  return rows;
}

export const isExpired = (error: unknown): boolean =>
  error instanceof UpstreamError && error.failure.code === 'RESULT_EXPIRED';

const gapOf = ({ state }: BulkPart): RowStatus =>
  state === 'CANCELLED' || state === 'EXPIRED' || state === 'FAILED' ? state : 'UNAVAILABLE';

export async function* lookupRows(
  lookup: BulkLookup,
  { hashes, requested: identifiers, options }: BulkRequest,
  sources: ExportSources,
): AsyncGenerator<ExportRow> {
  const chunks = chunkHashes(hashes);
  const partOf = new Map(chunks.flatMap((chunk, part) => chunk.map((hash) => [hash, part] as const)));
  /** Where each hash appears last: its row is freed then. */
  const lastAt = new Map(hashes.map((hash, i) => [hash, i]));
  const rows = new Map<string, ExportRow>();

  async function load(index: number): Promise<void> {
    const part = lookup.parts[index];
    const ofPart = chunks[index] ?? [];
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
    yield { requested: requested ?? hash, ...row };
    if (lastAt.get(hash) === i) rows.delete(hash);
  }
}
