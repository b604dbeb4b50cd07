// The parts of a protein as they are cached, each for itself: one table says what of an answer
// belongs to a part, what it takes in memory and how it is written down.
import {
  availablePartsOf,
  type Lazy,
  lazily,
  type PresentProtein,
  type ProteinParts,
  type Source,
} from './protein-data.ts';
import { storedStructure } from './record-parts.ts';
import { isSatisfied, type PartName, partsFor, type RequiredParts } from './required-parts.ts';

/** A part of an answer, and where the answer came from. */
export interface CachedPart {
  readonly part: PartName;
  readonly data: ProteinParts;
  readonly from: Source;
}

interface PartRule {
  /** What of an answer belongs to the part; undefined where it has nothing of it. */
  readonly of: (data: PresentProtein) => ProteinParts | undefined;
  /** Bytes in memory, about, beside those of the entry. */
  readonly sizeOf?: (data: ProteinParts) => number;
  /** Whether it is cached of a record that was requested for these needs; always when absent. */
  readonly isKept?: (asked: RequiredParts) => boolean;
  /** How much it holds: rankings and rows are joined with those that a request knows. */
  readonly extentOf?: (data: ProteinParts) => string;
  /** What JSON writes of it, where that is not the same. */
  readonly write?: (data: ProteinParts) => unknown;
  /** The part that was written as this. */
  readonly read?: (written: ProteinParts) => ProteinParts;
}

function identityOf({ sequence, length, accession, source }: PresentProtein): ProteinParts {
  const own: { -readonly [K in keyof ProteinParts]: ProteinParts[K] } = {};
  if (sequence !== undefined) own.sequence = sequence;
  if (length !== undefined) own.length = length;
  if (accession !== undefined) own.accession = accession;
  if (source !== undefined) own.source = source;
  return own;
}

/** The large parts of a record share its bytes: all are cached when one of them was requested. */
const LARGE: readonly PartName[] = ['structure', 'level', 'record'];
const isLargeWanted = (asked: RequiredParts): boolean => {
  const wanted = partsFor(asked);
  return LARGE.some((part) => wanted.has(part));
};

/** What was lazy was written down as what it then was. */
const written = <T>(value: Lazy<T>): Lazy<T> => {
  const plain: unknown = value;
  return lazily(() => plain as T);
};

/** Where the size is known, neither the text is unpacked nor pLDDT read from it. */
const sizeOfStructure = ({ structure }: ProteinParts): number => {
  if (structure == null) return 0;
  const { size, held } = structure;
  return size === undefined ? structure.pdb.length + 8 * structure.plddt.length : (held ?? 1.03 * size);
};

const sizeOfRows = ({ rows }: ProteinParts): number =>
  [...(rows?.rows.values() ?? [])].reduce((sum, { values }) => sum + 100 + 16 * values.length, 0);

const PARTS: Readonly<Record<PartName, PartRule>> = {
  /** In memory also without its sequence: any part says that the protein exists. */
  identity: {
    of: identityOf,
    sizeOf: ({ sequence }) => sequence?.length ?? 0,
  },
  names: {
    of: ({ name, header }) => (name === undefined || header === undefined ? undefined : { name, header }),
    sizeOf: ({ header }) => 2 * (header?.length ?? 0),
  },
  structure: {
    of: ({ structure, scores }) => {
      if (structure === undefined) return undefined;
      return scores === undefined ? { structure } : { structure, scores };
    },
    sizeOf: sizeOfStructure,
    isKept: isLargeWanted,
    read: ({ structure, ...rest }) => ({
      ...rest,
      structure: structure == null ? null : storedStructure(structure),
    }),
  },
  /** What the single record names as representative; it names none for a representative, either. */
  link: {
    of: ({ cluster, gaps }) =>
      cluster?.info === null
        ? { cluster }
        : cluster === undefined && gaps?.includes('record:cluster') === true
          ? { gaps: ['record:cluster'] }
          : undefined,
  },
  cluster: {
    of: ({ cluster }) => (cluster?.info == null ? undefined : { cluster }),
    sizeOf: () => 2000,
  },
  features: {
    of: ({ features }) => features && { features },
    sizeOf: ({ features }) => features?.size ?? 200 * (features?.values.length ?? 0),
    // A record requested for something else has the shortest ranking, which must not replace a
    // longer one.
    isKept: (asked) => partsFor(asked).has('features'),
    extentOf: ({ features }) => `${features?.top} ${features?.regions}`,
  },
  level: {
    of: ({ level }) => (level == null ? undefined : { level }),
    sizeOf: () => 2000,
    isKept: isLargeWanted,
    read: ({ level }) => (level == null ? {} : { level: written(level) }),
  },
  rows: {
    of: ({ rows }) => (rows == null ? undefined : { rows }),
    sizeOf: sizeOfRows,
    extentOf: ({ rows }) => `${rows?.top} ${rows?.rows.size}`,
    write: ({ rows }) => ({ rows: rows && { ...rows, rows: [...rows.rows] } }),
    read: ({ rows }) => (rows == null ? {} : { rows: { ...rows, rows: new Map(rows.rows) } }),
  },
  /** The whole holds all parts once more. */
  record: {
    of: ({ record }) => record && { record },
    // Coordinates as text, and three numbers for each of up to 64 activations a residue.
    sizeOf: ({ record }) => {
      const length = record?.own.sequence_length ?? 0;
      return 4000 + (record?.raw.size ?? 1000 * length) + 2000 * length;
    },
    isKept: (asked) => asked.record === true || asked.fold === true,
    read: ({ record }) => (record === undefined ? {} : { record: { ...record, raw: written(record.raw) } }),
  },
};

const NAMES = Object.keys(PARTS) as PartName[];

/**
 * The parts that an answer holds.
 *
 * @param asked - what a record was requested for; undefined for other answers, which are cached whole
 */
export function partsOf(data: PresentProtein, from: Source, asked: RequiredParts | undefined): CachedPart[] {
  const parts: CachedPart[] = [];
  for (const part of NAMES) {
    const { of, isKept } = PARTS[part];
    const own = of(data);
    if (own !== undefined && (asked === undefined || isKept?.(asked) !== false))
      parts.push({ part, data: own, from });
  }
  return parts;
}

/** What an entry of the memory takes beside its data. */
const ENTRY_BYTES = 300;

/** Roughly what a part takes in memory. */
export const sizeOf = ({ part, data }: CachedPart): number => ENTRY_BYTES + (PARTS[part].sizeOf?.(data) ?? 0);

/** Whether a part that is cached says nothing more than a later one. */
export const isReplaced = (before: CachedPart, after: CachedPart): boolean =>
  before.part === after.part && isSatisfied(availablePartsOf(before.data), availablePartsOf(after.data));

/** Whether it is an identity that a hash determines for good. */
export const isIdentity = ({ part, data }: CachedPart): boolean =>
  part === 'identity' && data.sequence !== undefined && data.accession !== undefined;

/** Counts up when the parts change, so that a store is not read as what it does not hold. */
const VERSION = 10;

/** Where a part of a protein is stored. */
export const keyOf = (part: PartName, hash: string): string => `${VERSION}:${part}:${hash}`;

/** How much a part holds, so that it is not written twice. */
export const extentOf = ({ part, data }: CachedPart): string => PARTS[part].extentOf?.(data) ?? '';

/** The part as it is stored; undefined for one that is cached in memory only. */
export function writePart(cached: CachedPart): unknown {
  const { part, data } = cached;
  if (part === 'identity' && !isIdentity(cached)) return undefined;
  return { ...cached, data: PARTS[part].write?.(data) ?? data };
}

/** A part that was stored. */
export function readPart(stored: unknown): CachedPart {
  // Only this cache writes under its name, and the version changes when the shape does.
  const { part, data, from } = stored as CachedPart;
  return {
    part,
    data: PARTS[part].read?.(data) ?? data,
    from: { ...from, retrievedAt: new Date(from.retrievedAt), fromCache: true },
  };
}
