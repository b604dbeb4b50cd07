// The cache of proteins, part by part, so that later requests fetch only the missing parts. Public
// data only. Neither errors nor the absence of a protein are cached.
import type { Cache } from '../../store/cache/cache.ts';
import type { SparseVector } from '../archive/bulk-record.ts';
import type { ReadRecord } from '../atlas.ts';
import { lazyProteinActivations, type ProteinActivationsSource } from './activations.ts';
import type {
  ClusterLink,
  PresentProtein,
  ProteinData,
  ProteinParts,
  RowsData,
  Source,
} from './protein-data.ts';
import type { RequiredParts } from './required-parts.ts';

/** The parts as they are cached: plain JSON. */
interface Parts {
  identity: Pick<ProteinParts, 'sequence' | 'length' | 'accession' | 'source'>;
  names: Pick<ProteinParts, 'name' | 'header'>;
  structure: NonNullable<ProteinParts['structure']> | null;
  /** What the single record names as representative; it names none for a representative, either. */
  link: { readonly representative: string | null };
  /** Null: it is proven to belong to none. */
  cluster: ClusterLink | null;
  features: NonNullable<ProteinParts['features']>;
  /** As it was written down, or as it was learnt. */
  level: SparseVector | ProteinActivationsSource;
  rows: { top: number; rows: [number, { residues: readonly number[]; values: readonly number[] }][] };
  record: ReadRecord;
}

type PartName = keyof Parts;
type Tiers = Parameters<Cache<unknown>['set']>[3];

/** A part with a note of where it came from. */
export type CachedPart = {
  [K in PartName]: { readonly part: K; readonly value: Parts[K]; readonly from: PartSource };
}[PartName];

interface PartSource {
  readonly operation: string;
  readonly at: number;
  readonly requestId?: string | undefined;
}

export interface ProteinCache {
  /** The cached part of what is needed, one entry for each part. */
  read(wanted: ReadonlyMap<string, RequiredParts>): ProteinData[] | Promise<ProteinData[]>;
  /**
   * Caches an answer about a protein.
   *
   * @param company - proteins in the answer: long lists are cached in memory only
   * @param asked - what a record was requested for: its large parts are cached when one of them was
   */
  write(data: ProteinData, company?: number, asked?: RequiredParts): void;
}

/** What answers of more proteins than this say is not written to the store. */
const SHORT_LIST = 20;

const YEAR = 365 * 24 * 3_600_000;

/** Which parts can meet which needs. */
const PARTS: Readonly<Record<keyof RequiredParts, readonly PartName[]>> = {
  sequence: ['identity'],
  structure: ['structure'],
  scores: ['structure'],
  link: ['cluster', 'link'],
  cluster: ['cluster'],
  features: ['features'],
  regions: ['features'],
  residues: ['features', 'rows'],
  rows: ['rows'],
  level: ['level'],
  header: ['names'],
  record: ['record'],
  fold: ['structure'],
};

/** By needs, most of which come again with their query. */
const partsKnown = new WeakMap<RequiredParts, ReadonlySet<PartName>>();

function partsFor(needs: RequiredParts): ReadonlySet<PartName> {
  const known = partsKnown.get(needs);
  if (known !== undefined) return known;
  const names = Object.keys(needs) as (keyof RequiredParts)[];
  // Any part says that the protein exists.
  const parts = new Set(names.length === 0 ? PARTS.sequence : names.flatMap((need) => PARTS[need]));
  partsKnown.set(needs, parts);
  return parts;
}

const LARGE: readonly PartName[] = ['structure', 'level'];

/** Whether none of the large parts of a record is wanted: they share their bytes. */
const isSmall = (needs: RequiredParts): boolean =>
  needs.record !== true && !LARGE.some((part) => partsFor(needs).has(part));

const wantsFeatures = (asked: RequiredParts | undefined): boolean =>
  asked === undefined || partsFor(asked).has('features');

/** Counts up when the parts change, so that a store is not read as what it does not hold. */
const VERSION = 4;

const keyOf = (part: PartName, hash: string): string => `${VERSION}:${part}:${hash}`;

const sourceOf = (level: Parts['level']): ProteinActivationsSource =>
  'read' in level ? level : lazyProteinActivations(() => level);

/** A cached part as an answer. */
function dataOf(hash: string, cached: CachedPart): PresentProtein {
  const { operation, at, requestId } = cached.from;
  const from: Source = { operation, retrievedAt: new Date(at), fromCache: true, requestId };
  const base = { hash, state: 'present', from } as const;
  switch (cached.part) {
    case 'identity':
    case 'names':
      return { ...base, ...cached.value };
    case 'rows':
      return { ...base, rows: { top: cached.value.top, rows: new Map(cached.value.rows) } };
    case 'structure':
      return { ...base, structure: cached.value };
    case 'link': {
      const { representative } = cached.value;
      return representative === null
        ? { ...base, gaps: ['record:cluster'] }
        : { ...base, cluster: { representative, info: null } };
    }
    case 'cluster':
      return { ...base, cluster: cached.value };
    case 'features':
      return { ...base, features: cached.value };
    case 'level':
      return { ...base, level: sourceOf(cached.value) };
    case 'record':
      return { ...base, record: cached.value };
  }
}

const rowsPart = ({ top, rows }: RowsData): Parts['rows'] => ({ top, rows: [...rows] });

/** The parts that an answer holds. */
function partsOf(data: PresentProtein, from: PartSource): CachedPart[] {
  const { sequence, length, accession, source, name, header } = data;
  const cached: CachedPart[] = [];
  if (sequence !== undefined && accession !== undefined)
    cached.push({
      part: 'identity',
      value: {
        sequence,
        accession,
        ...(length === undefined ? {} : { length }),
        ...(source === undefined ? {} : { source }),
      },
      from,
    });
  if (name !== undefined && header !== undefined)
    cached.push({ part: 'names', value: { name, header }, from });
  if (data.structure !== undefined) cached.push({ part: 'structure', value: data.structure, from });
  const { cluster } = data;
  if (cluster === null || cluster?.info != null) cached.push({ part: 'cluster', value: cluster, from });
  else if (cluster !== undefined || data.gaps?.includes('record:cluster') === true)
    cached.push({ part: 'link', value: { representative: cluster?.representative ?? null }, from });
  if (data.features !== undefined) cached.push({ part: 'features', value: data.features, from });
  if (data.level != null) cached.push({ part: 'level', value: data.level, from });
  if (data.rows != null) cached.push({ part: 'rows', value: rowsPart(data.rows), from });
  if (data.record !== undefined) cached.push({ part: 'record', value: data.record, from });
  return cached;
}

/** Roughly what a part takes in memory. */
export function sizeOfPart(cached: CachedPart): number {
  switch (cached.part) {
    case 'identity':
      return 400 + (cached.value.sequence?.length ?? 0);
    case 'structure':
      // Where the size is known, neither unpack the text nor read pLDDT from it.
      return cached.value?.size === undefined
        ? 300 + (cached.value?.pdb.length ?? 0) + 8 * (cached.value?.plddt.length ?? 0)
        : 300 + Math.ceil(cached.value.held ?? 1.03 * cached.value.size);
    case 'link':
      return 200;
    case 'names':
      return 300 + 2 * (cached.value.header?.length ?? 0);
    case 'cluster':
      return 4000;
    case 'features':
      return 400 + (cached.value.size ?? 800 * cached.value.values.length);
    case 'level':
      return 'read' in cached.value ? 2000 : 200 + 16 * cached.value.indices.length;
    case 'rows':
      return 200 + cached.value.rows.reduce((sum, [, row]) => sum + 100 + 16 * row.values.length, 0);
    case 'record':
      // Coordinates as text, and three numbers for each of up to 64 activations a residue.
      return (
        4000 +
        (cached.value.parts?.bytes ?? cached.value.record.pdb?.length ?? 0) +
        2000 * (cached.value.record.sequence?.length ?? 0)
      );
  }
}

/**
 * The cache of proteins.
 *
 * @param known - by hash, of which proteins there may be parts in `cache`: of most there are none
 * @param ttl - milliseconds that what may change is cached; 0: nothing is
 */
export function openProteinCache(cache: Cache<CachedPart>, known: Cache<true>, ttl: number): ProteinCache {
  const readParts = (
    wanted: ReadonlyMap<string, RequiredParts>,
    ofThese: Iterable<string>,
  ): ProteinData[] | Promise<ProteinData[]> => {
    const keys = new Map<string, string>();
    // The proteins of a list need the same parts.
    let last: { needs: RequiredParts; parts: ReadonlySet<PartName> } | undefined;
    for (const hash of ofThese) {
      const needs = wanted.get(hash) ?? {};
      if (last?.needs !== needs) last = { needs, parts: partsFor(needs) };
      for (const part of last.parts) keys.set(keyOf(part, hash), hash);
    }
    if (keys.size === 0) return [];
    const read = (cached: ReadonlyMap<string, CachedPart>): ProteinData[] =>
      cached.size === 0 ? [] : Array.from(cached, ([key, part]) => dataOf(keys.get(key) ?? '', part));
    const found = cache.getMany([...keys.keys()]);
    return found instanceof Promise ? found.then(read) : read(found);
  };

  return {
    read(wanted) {
      if (ttl === 0) return [];
      const found = known.getMany([...wanted.keys()]);
      return found instanceof Promise
        ? found.then((some) => readParts(wanted, some.keys()))
        : readParts(wanted, found.keys());
    },
    write(data, company = 1, asked) {
      const { from } = data;
      if (ttl === 0 || data.state !== 'present' || from === undefined || from.fromCache) return;
      const isLong = company > SHORT_LIST;
      const isAsked = wantsFeatures(asked);
      // The whole holds all parts once more.
      const isWhole = asked === undefined || asked.record === true || asked.fold === true;
      const source = { operation: from.operation, at: from.retrievedAt.getTime(), requestId: from.requestId };
      let most: Tiers | undefined;
      for (const cached of partsOf(data, source)) {
        const { part } = cached;
        if (part === 'record' && !isWhole) continue;
        if (asked !== undefined && isSmall(asked) && LARGE.includes(part)) continue;
        // A record requested for something else has the shortest ranking, which must not replace a
        // longer one.
        if (part === 'features' && !isAsked) continue;
        const tiers: Tiers = isLong ? 'memory' : 'all';
        if (most !== 'all') most = tiers;
        const keep = (part === 'identity' ? YEAR : ttl) - (Date.now() - source.at);
        if (keep > 0) cache.set(keyOf(part, data.hash), cached, keep, tiers);
      }
      if (most !== undefined) known.set(data.hash, true, YEAR, most);
    },
  };
}
