// The parts of a protein as the store holds them, each under a key of its own, and how answers become
// parts and parts answers.
import {
  type ClusterLink,
  type Lazy,
  lazily,
  type PresentProtein,
  type ProteinParts,
  type RowsData,
  type Source,
} from './protein-data.ts';
import type { RequiredParts } from './required-parts.ts';

/** The parts as they are stored: plain JSON. */
interface Parts {
  identity: Pick<ProteinParts, 'sequence' | 'length' | 'accession' | 'source'>;
  names: Pick<ProteinParts, 'name' | 'header'>;
  structure: NonNullable<ProteinParts['structure']> | null;
  /** What the single record names as representative; it names none for a representative, either. */
  link: { readonly representative: string | null };
  /** Null: it is proven to belong to none. */
  cluster: ClusterLink | null;
  features: NonNullable<ProteinParts['features']>;
  level: NonNullable<ProteinParts['level']>;
  rows: { top: number; rows: [number, { residues: readonly number[]; values: readonly number[] }][] };
  record: NonNullable<ProteinParts['record']>;
}

export type PartName = keyof Parts;

/** A part with a note of where it came from. */
export type StoredPart = {
  [K in PartName]: { readonly part: K; readonly value: Parts[K]; readonly from: PartSource };
}[PartName];

interface PartSource {
  readonly operation: string;
  readonly at: number;
  readonly requestId?: string | undefined;
}

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

/** The parts of which at least one has to be stored for each of these needs. */
export function partsFor(needs: RequiredParts): ReadonlySet<PartName> {
  const known = partsKnown.get(needs);
  if (known !== undefined) return known;
  const names = Object.keys(needs) as (keyof RequiredParts)[];
  // Any part says that the protein exists.
  const parts = new Set(names.length === 0 ? PARTS.sequence : names.flatMap((need) => PARTS[need]));
  partsKnown.set(needs, parts);
  return parts;
}

/** Counts up when the parts change, so that a store is not read as what it does not hold. */
const VERSION = 6;

/** Where a part of a protein is stored. */
export const keyOf = (part: PartName, hash: string): string => `${VERSION}:${part}:${hash}`;

/** What is lazy was written down as what it then was. */
const written = <T>(value: Lazy<T>): Lazy<T> => {
  const plain: unknown = value;
  return lazily(() => plain as T);
};

/** A stored part as an answer. */
export function dataOf(hash: string, cached: StoredPart): PresentProtein {
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
      return { ...base, level: written(cached.value) };
    case 'record':
      return { ...base, record: { ...cached.value, raw: written(cached.value.raw) } };
  }
}

const rowsPart = ({ top, rows }: RowsData): Parts['rows'] => ({ top, rows: [...rows] });

/** The parts that an answer holds. */
export function partsOf(data: PresentProtein, { operation, retrievedAt, requestId }: Source): StoredPart[] {
  const from: PartSource = { operation, at: retrievedAt.getTime(), requestId };
  const { sequence, length, accession, source, name, header } = data;
  const cached: StoredPart[] = [];
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

/** How much a part holds: rankings and rows are joined with those that a request knows. */
export function extentOf({ part, value }: StoredPart): string {
  if (part === 'features') return `${value.top} ${value.regions}`;
  if (part === 'rows') return `${value.top} ${value.rows.length}`;
  return String(value !== null);
}
