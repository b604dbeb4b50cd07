// The cache of proteins, so that later requests fetch only the missing parts: in memory the answers
// about a protein as they were read, in the store part by part. Public data only. Neither errors nor
// the absence of a protein are cached.
import { LRUCache } from 'lru-cache';
import type { CacheOptions, SharedCache } from '../../store/cache/cache.ts';
import {
  availablePartsOf,
  type Mutable,
  mergeData,
  type PresentProtein,
  type ProteinData,
  type ProteinParts,
  type RowsData,
  type Source,
} from './protein-data.ts';
import { isSatisfied, type RequiredParts } from './required-parts.ts';
import {
  dataOf,
  extentOf,
  keyOf,
  type PartName,
  partsFor,
  partsOf,
  type StoredPart,
} from './stored-parts.ts';

/** What is stored, and until when it is fresh. */
interface Timed<T> {
  readonly v: T;
  readonly until: number;
}

export type ProteinCache = ReturnType<typeof createProteinCache>;

/** What answers of more proteins than this say is not written to the store. */
const SHORT_LIST = 20;

const YEAR = 365 * 24 * 3_600_000;

const LARGE: readonly PartName[] = ['structure', 'level'];

/** Whether none of the large parts of a record is wanted: they share their bytes. */
const isSmall = (needs: RequiredParts): boolean =>
  needs.record !== true && !LARGE.some((part) => partsFor(needs).has(part));

const wantsFeatures = (asked: RequiredParts | undefined): boolean =>
  asked === undefined || partsFor(asked).has('features');

// Where the size is known, neither the text is unpacked nor pLDDT read from it.
const sizeOfStructure = (structure: NonNullable<ProteinParts['structure']>): number =>
  structure.size === undefined
    ? structure.pdb.length + 8 * structure.plddt.length
    : (structure.held ?? 1.03 * structure.size);

function sizeOfRows({ rows }: RowsData): number {
  let size = 0;
  for (const { values } of rows.values()) size += 100 + 16 * values.length;
  return size;
}

/** Roughly what an answer takes in memory. */
function sizeOf(data: PresentProtein): number {
  const { sequence, header, structure, cluster, features, level, rows, record } = data;
  return (
    1000 +
    (sequence?.length ?? 0) +
    2 * (header?.length ?? 0) +
    (structure == null ? 0 : sizeOfStructure(structure)) +
    (cluster?.info == null ? 0 : 2000) +
    (features === undefined ? 0 : (features.size ?? 200 * features.values.length)) +
    (level == null ? 0 : 2000) +
    (rows == null ? 0 : sizeOfRows(rows)) +
    // Coordinates as text, and three numbers for each of up to 64 activations a residue.
    (record === undefined
      ? 0
      : 4000 + (record.raw.size ?? 1000 * (sequence?.length ?? 0)) + 2000 * (sequence?.length ?? 0))
  );
}

/** Whether an answer holds nothing but what is cached. Nearly all come from archives, and do. */
const isCacheable = ({ gaps, folded, clusterAsked, scores, record, level, rows }: PresentProtein): boolean =>
  (gaps ?? folded ?? clusterAsked ?? scores ?? record) === undefined && level !== null && rows !== null;

/** What of an answer is cached. @param asked - what a record was requested for */
function cacheable(data: PresentProtein, asked: RequiredParts | undefined): PresentProtein {
  if (asked === undefined && isCacheable(data)) return data;
  const { gaps, folded, clusterAsked, scores, record, structure, level, rows, features, ...kept } = data;
  const cached: Mutable = kept;
  if (kept.cluster === undefined && gaps?.includes('record:cluster') === true)
    cached.gaps = ['record:cluster'];
  const isLight = asked !== undefined && isSmall(asked);
  if (structure !== undefined && !isLight) cached.structure = structure;
  if (level != null && !isLight) cached.level = level;
  if (rows != null) cached.rows = rows;
  // A record requested for something else has the shortest ranking, which must not replace a longer
  // one.
  if (features !== undefined && wantsFeatures(asked)) cached.features = features;
  // The whole holds all parts once more.
  const isWhole = asked === undefined || asked.record === true || asked.fold === true;
  if (record !== undefined && isWhole) cached.record = record;
  return cached;
}

/** What never changes of an answer. */
function identityOf(data: PresentProtein): PresentProtein | undefined {
  const { hash, state, from, sequence, length, accession, source } = data;
  if (sequence === undefined || accession === undefined || from === undefined) return undefined;
  return {
    hash,
    state,
    from,
    sequence,
    accession,
    ...(length === undefined ? {} : { length }),
    ...(source === undefined ? {} : { source }),
  };
}

export interface ProteinCacheOptions {
  /** Milliseconds that what may change is cached; 0: nothing is. */
  readonly ttl: number;
  /** Of all answers in memory together. */
  readonly maxBytes: number;
  readonly parts: SharedCache | undefined;
  /** By hash, of which proteins there may be parts in the store: of most there are none. */
  readonly known: SharedCache | undefined;
  readonly onLookup?: CacheOptions<never>['onLookup'];
}

export function createProteinCache(options: ProteinCacheOptions) {
  const { ttl, maxBytes, parts, known, onLookup } = options;
  /** Of each protein the answers that together hold all that is known, the oldest first. */
  const local = new LRUCache<string, readonly PresentProtein[]>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes / 2),
    // lru-cache takes whole numbers.
    sizeCalculation: (answers, hash) =>
      Math.ceil(answers.reduce((sum, data) => sum + sizeOf(data), hash.length)),
  });

  const remember = (data: PresentProtein): void => {
    const before = local.peek(data.hash);
    const had = before && availablePartsOf(data);
    const others = had && before.filter((one) => !isSatisfied(availablePartsOf(one), had));
    local.set(data.hash, others === undefined ? [data] : [...others, data]);
  };

  /** What memory has of a protein that is still fresh. */
  const recall = (hash: string, now: number, found: ProteinData[]): ProteinData | undefined => {
    let all: ProteinData | undefined;
    for (const data of local.get(hash) ?? []) {
      if (data.from === undefined) continue;
      const age = now - data.from.retrievedAt.getTime();
      const fresh = age < ttl ? data : age < YEAR ? identityOf(data) : undefined;
      if (fresh === undefined) continue;
      const one = { ...fresh, from: { ...data.from, fromCache: true } };
      found.push(one);
      all = all === undefined ? one : mergeData(all, one);
    }
    return all;
  };

  /** Looks in the store for what memory has not. */
  const readStore = async (
    found: ProteinData[],
    lacking: ReadonlyMap<string, RequiredParts>,
    unknown: ReadonlySet<string>,
    stored: SharedCache,
  ): Promise<ProteinData[]> => {
    const existing = unknown.size === 0 ? undefined : await known?.getMany([...unknown]);
    const keys = new Map<string, string>();
    for (const [hash, needs] of lacking) {
      if (unknown.has(hash) && existing?.has(hash) !== true) continue;
      for (const part of partsFor(needs)) keys.set(keyOf(part, hash), hash);
    }
    const memory = found.length;
    const now = Date.now();
    const values = keys.size === 0 ? undefined : await stored.getMany([...keys.keys()]);
    for (const [key, { value }] of values ?? []) {
      // Only this cache writes under its name, and the version changes when the shape does.
      const { v, until } = value as Timed<StoredPart>;
      if (until <= now) continue;
      const data = dataOf(keys.get(key) ?? '', v);
      remember(data);
      found.push(data);
    }
    const store = found.length - memory;
    onLookup?.('proteins', { memory, store, missing: lacking.size });
    return found;
  };

  /** What of each answer has been written: hundreds of requests may share one. */
  const written = new WeakMap<Source, Set<string>>();

  const writeStore = (kept: PresentProtein, from: Source): void => {
    const now = Date.now();
    const before = written.get(from) ?? new Set<string>();
    written.set(from, before);
    for (const cached of partsOf(kept, from)) {
      const key = keyOf(cached.part, kept.hash);
      const extent = `${key} ${extentOf(cached)}`;
      const until = from.retrievedAt.getTime() + (cached.part === 'identity' ? YEAR : ttl);
      const entry: Timed<StoredPart> = { v: cached, until };
      if (until > now && !before.has(extent)) void parts?.set(key, entry, until - now);
      before.add(extent);
    }
    if (before.has(kept.hash)) return;
    before.add(kept.hash);
    const word: Timed<true> = { v: true, until: now + YEAR };
    void known?.set(kept.hash, word, YEAR);
  };

  return {
    /** What is cached of what is needed. */
    read(wanted: ReadonlyMap<string, RequiredParts>): ProteinData[] | Promise<ProteinData[]> {
      if (ttl === 0) return [];
      const now = Date.now();
      const found: ProteinData[] = [];
      const lacking = new Map<string, RequiredParts>();
      const unknown = new Set<string>();
      for (const [hash, needs] of wanted) {
        const data = recall(hash, now, found);
        if (data !== undefined && isSatisfied(needs, availablePartsOf(data))) continue;
        lacking.set(hash, needs);
        if (data === undefined) unknown.add(hash);
      }
      if (lacking.size > 0 && parts !== undefined) return readStore(found, lacking, unknown, parts);
      onLookup?.('proteins', { memory: found.length, store: 0, missing: lacking.size });
      return found;
    },
    /**
     * Caches an answer about a protein.
     *
     * @param company - proteins in the answer: long lists are cached in memory only
     * @param asked - what a record was requested for: its large parts are cached when one of them was
     */
    write(data: ProteinData, company: number = 1, asked?: RequiredParts) {
      const { from } = data;
      if (ttl === 0 || data.state !== 'present' || from === undefined || from.fromCache) return;
      const kept = cacheable(data, asked);
      remember(kept);
      if (company <= SHORT_LIST) writeStore(kept, from);
    },
  };
}
