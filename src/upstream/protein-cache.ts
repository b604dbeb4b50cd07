// What was learnt of proteins, kept between requests part by part, so that a later request asks only for what nobody has
// asked before. Only what the Atlas says of everybody; that a protein does not exist is not kept, it may be added.
import type { Cache } from '../store/cache.ts';
import { type LevelSource, levelSource } from './activations.ts';
import type { SparseVector } from './archive/bulk-record.ts';
import type { ReadRecord } from './atlas.ts';
import type { Archive } from './bulk-fetch.ts';
import { openKeptArchives } from './kept-archives.ts';
import { openKeptRecords } from './kept-records.ts';
import { fromBulk } from './protein-answers.ts';
import type { ProteinData, RowsData, Source } from './protein-data.ts';
import type { ProteinNeeds } from './protein-needs.ts';
import { openSeen } from './seen.ts';

/** The parts as they are kept: plain JSON. */
interface Parts {
  identity: Pick<ProteinData, 'sequence' | 'length' | 'accession' | 'source' | 'name'>;
  structure: NonNullable<ProteinData['structure']> | null;
  /** What the single record names as representative. */
  link: NonNullable<ProteinData['cluster']>;
  cluster: NonNullable<ProteinData['cluster']>;
  features: NonNullable<ProteinData['features']>;
  /** As it was written down, or as it was learnt. */
  level: SparseVector | LevelSource;
  rows: { top: number; rows: [number, { residues: readonly number[]; values: readonly number[] }][] };
  record: ReadRecord;
}

type PartName = keyof Parts;
type Tiers = Parameters<Cache<unknown>['set']>[3];

/** A part with a note of where it came from. */
export type KeptPart = {
  [K in PartName]: { readonly part: K; readonly value: Parts[K]; readonly from: KeptSource };
}[PartName];

interface KeptSource {
  readonly operation: string;
  readonly at: number;
  readonly requestId?: string | undefined;
}

export interface ProteinCache {
  /** What is kept of what is needed, one entry for each part. */
  read(wanted: ReadonlyMap<string, ProteinNeeds>): ProteinData[] | Promise<ProteinData[]>;
  /**
   * Keeps what an answer said of a protein.
   *
   * @param company - how many proteins the answer spoke of: what long lists say is written down when it comes a second time, and their
   *   structures are kept at all only then
   * @param asked - what a record was asked for: the whole of it is kept where that was asked for. Where it is none of its large parts, they are kept when they come a second time. Nobody may
   *   ever want them, and to hold their bytes costs more than all else that is done for a record
   */
  write(data: ProteinData, company?: number, asked?: ProteinNeeds): void;
  /** Keeps what an archive said of a protein if that comes a second time: the archive itself is kept. */
  writeAgain(data: ProteinData): void;
  /** Keeps an archive as it came, until one of its proteins is asked for again. */
  keep(archive: Archive): void;
}

/** In answers of more proteins than this, what is said of a protein is kept for good only when it was seen before. */
export const SHORT_LIST = 20;
/** Bytes of archives that are kept as they came. */
const MOST_ARCHIVES = 24 * 1024 ** 2;
/** Archives that one look-up reads again at most; proteins of further ones are asked for anew. */
const MOST_AGAIN = 12;
/** Bytes of what records say that are kept as they came. */
const MOST_RECORDS = 16 * 1024 ** 2;
/** Hashes that are remembered because they may come a second time. */
const MOST_SEEN = 40_000;

const YEAR = 365 * 24 * 3_600_000;

/** Which parts can meet which needs. */
const PARTS: Readonly<Record<keyof ProteinNeeds, readonly PartName[]>> = {
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
  record: ['record'],
  fold: ['structure'],
};

/** By needs, most of which come again with their query. */
const partsKnown = new WeakMap<ProteinNeeds, ReadonlySet<PartName>>();

function partsFor(needs: ProteinNeeds): ReadonlySet<PartName> {
  const known = partsKnown.get(needs);
  if (known !== undefined) return known;
  const parts = new Set((Object.keys(needs) as (keyof ProteinNeeds)[]).flatMap((need) => PARTS[need]));
  partsKnown.set(needs, parts);
  return parts;
}

const haveCommonParts = (some: ProteinNeeds, others: ProteinNeeds): boolean => {
  const parts = partsFor(others);
  return [...partsFor(some)].some((part) => parts.has(part));
};

const LARGE: readonly PartName[] = ['structure', 'level'];

/** Whether none of the large parts of a record is wanted: they share their bytes. */
const isSmall = (needs: ProteinNeeds): boolean =>
  needs.record !== true && !LARGE.some((part) => partsFor(needs).has(part));

/** Whether a part is bytes until somebody asks for it: what nobody asked for is not read in order to be written down. */
const isUnread = ({ part, value }: KeptPart): boolean => part === 'features' && value.size !== undefined;

const wantsFeatures = (asked: ProteinNeeds | undefined): boolean =>
  asked === undefined || partsFor(asked).has('features');

const keyOf = (part: PartName, hash: string): string => `${part}:${hash}`;

const sourceOf = (level: Parts['level']): LevelSource => ('read' in level ? level : levelSource(() => level));

/** A kept part as an answer. */
function dataOf(hash: string, kept: KeptPart): ProteinData {
  const { operation, at, requestId } = kept.from;
  const from: Source = { operation, retrievedAt: new Date(at), fromCache: true, requestId };
  const base = { hash, exists: true, from };
  switch (kept.part) {
    case 'identity':
      return { ...base, ...kept.value };
    case 'rows':
      return { ...base, rows: { top: kept.value.top, rows: new Map(kept.value.rows) } };
    case 'structure':
      return { ...base, structure: kept.value };
    case 'link':
    case 'cluster':
      return { ...base, cluster: kept.value };
    case 'features':
      return { ...base, features: kept.value };
    case 'level':
      return { ...base, level: sourceOf(kept.value) };
    case 'record':
      return { ...base, record: kept.value };
  }
}

const rowsPart = ({ top, rows }: RowsData): Parts['rows'] => ({ top, rows: [...rows] });

/** The parts that an answer holds. */
function partsOf(data: ProteinData, from: KeptSource): KeptPart[] {
  const { sequence, length, accession, source, name } = data;
  const kept: KeptPart[] = [];
  if (sequence !== undefined && accession !== undefined)
    kept.push({
      part: 'identity',
      value: {
        sequence,
        accession,
        ...(length === undefined ? {} : { length }),
        ...(source === undefined ? {} : { source }),
        ...(name === undefined ? {} : { name }),
      },
      from,
    });
  if (data.structure !== undefined) kept.push({ part: 'structure', value: data.structure, from });
  if (data.cluster !== undefined)
    kept.push({ part: data.cluster.settled ? 'cluster' : 'link', value: data.cluster, from });
  if (data.features !== undefined) kept.push({ part: 'features', value: data.features, from });
  if (data.level != null) kept.push({ part: 'level', value: data.level, from });
  if (data.rows != null) kept.push({ part: 'rows', value: rowsPart(data.rows), from });
  if (data.record !== undefined) kept.push({ part: 'record', value: data.record, from });
  return kept;
}

/** Roughly what a part takes in memory. */
export function sizeOfPart(kept: KeptPart): number {
  switch (kept.part) {
    case 'identity':
      return 400 + (kept.value.sequence?.length ?? 0);
    case 'structure':
      // Neither by the text, which is unpacked to be read, nor by pLDDT, which is read from it, where its size is known.
      return kept.value?.size === undefined
        ? 300 + (kept.value?.pdb.length ?? 0) + 8 * (kept.value?.plddt.length ?? 0)
        : 300 + (kept.value.held ?? 1.03 * kept.value.size);
    case 'link':
      return 200;
    case 'cluster':
      return 4000;
    case 'features':
      return 400 + (kept.value.size ?? 800 * kept.value.values.length);
    case 'level':
      return 'read' in kept.value ? 2000 : 200 + 16 * kept.value.indices.length;
    case 'rows':
      return 200 + kept.value.rows.reduce((sum, [, row]) => sum + 100 + 16 * row.values.length, 0);
    case 'record':
      // Coordinates as text, and three numbers for each of up to 64 activations a residue.
      return (
        4000 +
        (kept.value.parts?.bytes ?? kept.value.record.pdb?.length ?? 0) +
        2000 * (kept.value.record.sequence?.length ?? 0)
      );
  }
}

/**
 * The cache of proteins. Archives of long lists are kept as they came: most are never asked for again, and to keep what they say as objects
 * took a fifth of all that was done for them, most of it by the collector.
 *
 * @param known - by hash, of which proteins there may be parts in `cache`
 * @param ttl - milliseconds that what may change is kept; 0: nothing is kept
 */
export function openProteinCache(cache: Cache<KeptPart>, known: Cache<true>, ttl: number): ProteinCache {
  const isSeen = openSeen(MOST_SEEN);
  const archives = openKeptArchives(MOST_ARCHIVES);
  const records = openKeptRecords(MOST_RECORDS);

  const keepParts = (
    data: ProteinData,
    from: Source,
    tiersFor: (part: KeptPart) => Tiers | undefined,
  ): void => {
    const source = { operation: from.operation, at: from.retrievedAt.getTime(), requestId: from.requestId };
    let most: Tiers | undefined;
    for (const part of partsOf(data, source)) {
      const tiers = tiersFor(part);
      if (tiers === undefined) continue;
      if (most !== 'all') most = tiers;
      const keep = (part.part === 'identity' ? YEAR : ttl) - (Date.now() - source.at);
      if (keep > 0) cache.set(keyOf(part.part, data.hash), part, keep, tiers);
    }
    if (most !== undefined) known.set(data.hash, true, YEAR, most);
  };
  const writeAll = (data: ProteinData): void => {
    if (data.from !== undefined && data.exists === true) keepParts(data, data.from, () => 'all');
  };

  const readParts = (
    wanted: ReadonlyMap<string, ProteinNeeds>,
    ofThese: Iterable<string>,
  ): ProteinData[] | Promise<ProteinData[]> => {
    const keys = new Map<string, string>();
    // The proteins of a list need the same parts.
    let last: { needs: ProteinNeeds; parts: ReadonlySet<PartName> } | undefined;
    for (const hash of ofThese) {
      const needs = wanted.get(hash) ?? {};
      if (last?.needs !== needs) last = { needs, parts: partsFor(needs) };
      for (const part of last.parts) keys.set(keyOf(part, hash), hash);
    }
    if (keys.size === 0) return [];
    const read = (kept: ReadonlyMap<string, KeptPart>): ProteinData[] =>
      kept.size === 0 ? [] : Array.from(kept, ([key, part]) => dataOf(keys.get(key) ?? '', part));
    const found = cache.getMany([...keys.keys()]);
    return found instanceof Promise ? found.then(read) : read(found);
  };
  /** Keeps part by part what records say of proteins that are asked for again. */
  const unpack = (hash: string): void => {
    const data = records.take(hash);
    if (data?.from !== undefined) keepParts(data, data.from, (part) => (isUnread(part) ? 'memory' : 'all'));
  };
  /** What is kept part by part. Of most proteins nothing is: to look for each part of them was a tenth of all that is done for a list. */
  const readKept = (wanted: ReadonlyMap<string, ProteinNeeds>): ProteinData[] | Promise<ProteinData[]> => {
    const found = known.getMany([...wanted.keys()]);
    return found instanceof Promise
      ? found.then((some) => readParts(wanted, some.keys()))
      : readParts(wanted, found.keys());
  };
  /** What an archive says of proteins that are asked for again; they are kept one by one from now on. */
  const readAgain = async (archive: Archive, hashes: readonly string[]): Promise<ProteinData[]> => {
    const read = await archive.read();
    if (read === undefined) return [];
    archives.forget(hashes);
    return hashes.flatMap((hash) => {
      const { data } = fromBulk(hash, archive.needs, read);
      writeAll(data);
      return data.exists === true ? [{ ...data, from: { ...read.from, fromCache: true } }] : [];
    });
  };
  /** The archives that say something of what is wanted, and of which proteins. */
  const archivesOf = (wanted: ReadonlyMap<string, ProteinNeeds>): Map<Archive, string[]> | undefined => {
    let found: Map<Archive, string[]> | undefined;
    for (const [hash, needs] of wanted) {
      const archive = archives.of(hash);
      if (archive === undefined || !haveCommonParts(needs, archive.needs)) continue;
      found ??= new Map();
      const others = found.get(archive);
      if (others !== undefined) others.push(hash);
      else if (found.size < MOST_AGAIN) found.set(archive, [hash]);
    }
    return found;
  };

  return {
    read(wanted) {
      if (ttl === 0) return [];
      for (const hash of wanted.keys()) unpack(hash);
      const again = archivesOf(wanted);
      if (again === undefined) return readKept(wanted);
      return Promise.all([
        ...Array.from(again, ([archive, hashes]) => readAgain(archive, hashes)),
        readKept(wanted),
      ]).then((found) => found.flat());
    },
    write(data, company = 1, asked) {
      const { from } = data;
      if (ttl === 0 || from === undefined || from.fromCache || data.exists !== true) return;
      const isLong = company > SHORT_LIST;
      const isPassing = (isLong || (asked !== undefined && isSmall(asked))) && !isSeen(data.hash);
      // Nobody may ever ask for it again, and there is no time to write it down.
      if (isPassing && !isLong && !cache.writes() && records.keep(data, ttl)) return;
      records.drop(data.hash);
      const isAsked = wantsFeatures(asked);
      // The whole holds all parts once more.
      const isWhole = asked === undefined || asked.record === true || asked.fold === true;
      keepParts(data, from, (kept) => {
        const { part } = kept;
        if (part === 'record' && !isWhole) return undefined;
        if (isPassing && (part === 'structure' || (!isLong && part === 'level'))) return undefined;
        return (isUnread(kept) && !isAsked) || (isPassing && isLong) ? 'memory' : 'all';
      });
    },
    writeAgain(data) {
      if (ttl !== 0 && data.exists === true && isSeen(data.hash)) writeAll(data);
    },
    keep(archive) {
      if (ttl !== 0) archives.keep(archive, ttl);
    },
  };
}
