// The parts of a protein that a field may need, in one table: which member of a record holds each,
// and which answers of the service have it.
import { isKnown, type Part, UNKNOWN } from '../part.ts';
import type { ProteinRecord } from './record.ts';

/** The parts of a protein that are needed, such as `{ sequence: true, features: 10 }`. */
export interface RequiredParts {
  readonly sequence?: true;
  readonly length?: true;
  readonly accession?: true;
  readonly source?: true;
  /** Which answer said something of it last. */
  readonly provenance?: true;
  /** The file, and pLDDT by residue. */
  readonly structure?: true;
  /** Stands beside the structure, which may come without it. */
  readonly ptm?: true;
  readonly meanPlddt?: true;
  /** The representative of its cluster. */
  readonly link?: true;
  /** That and what the archive says of the cluster. */
  readonly cluster?: true;
  /** How many top features, 1 to 100. */
  readonly features?: number;
  /** How many top features with regions, 1 to 100. */
  readonly regions?: number;
  /** How many top features with activations along the sequence, 1 to 100. */
  readonly residues?: number;
  /** Indices of features whose activations along the sequence are needed. */
  readonly rows?: readonly number[];
  /** The activations of all features. */
  readonly level?: true;
  /** The FASTA header and name of its record. */
  readonly header?: true;
  /** The members that only the single record has. */
  readonly record?: true;
  /** Fold it when it has no structure. */
  readonly fold?: true;
}

export type PartName = keyof RequiredParts;

/** The part of a bulk archive that has some of the parts of a protein. */
export type ArchiveMember = 'sequences' | 'structures' | 'clusters' | 'features' | 'rows';

/**
 * How much of a part there is: how many top features, which features; `all` also where the service
 * has none, or the call failed, so that nothing is asked again.
 */
export type Held = boolean | number | readonly number[] | 'all' | undefined;

interface PartRule {
  /** The member of a record that holds the part. */
  readonly member: keyof ProteinRecord;
  /** Members that come with it. */
  readonly beside?: readonly (keyof ProteinRecord)[];
  /** The share that a record holds; when absent, all of it where the member is not unknown. */
  readonly held?: (record: ProteinRecord) => Held;
  /** Where an archive has it; absent for what only the single record has. */
  readonly archive?: ArchiveMember;
  /** Where the single record has it, for the error when no answer does. */
  readonly path?: string;
  /** The part that includes it. */
  readonly within?: PartName;
}

/** How much of a part a value holds: all where the service has none, or the call failed. */
function heldIn<T>(part: Part<T>, amount: (value: T) => Held): Held {
  if (part === UNKNOWN) return undefined;
  return isKnown(part) && part !== null ? amount(part) : 'all';
}

const SEQUENCES = { archive: 'sequences' } as const;
const STRUCTURES = { archive: 'structures' } as const;
const CLUSTERS = { archive: 'clusters' } as const;

export const PARTS: Readonly<Record<PartName, PartRule>> = {
  sequence: { ...SEQUENCES, member: 'sequence', path: '$.sequence' },
  length: { ...SEQUENCES, member: 'length', path: '$.sequence_length' },
  accession: { ...SEQUENCES, member: 'accession', path: '$.accession' },
  source: { ...SEQUENCES, member: 'source', path: '$.source' },
  provenance: { ...SEQUENCES, member: 'from' },
  structure: { ...STRUCTURES, member: 'structure', beside: ['plddt', 'meanPlddt'], path: '$.pdb' },
  ptm: {
    ...STRUCTURES,
    member: 'ptm',
    path: '$.ptm',
    held: ({ ptm, structure }) => ptm !== UNKNOWN || structure === null,
  },
  meanPlddt: { ...STRUCTURES, member: 'meanPlddt', path: '$.mean_plddt', within: 'structure' },
  link: {
    ...CLUSTERS,
    member: 'cluster',
    within: 'cluster',
    held: ({ cluster, namesNoCluster }) => cluster !== UNKNOWN || namesNoCluster === true,
  },
  cluster: {
    ...CLUSTERS,
    member: 'cluster',
    held: ({ cluster }) => heldIn(cluster, ({ info }) => info !== undefined),
  },
  features: {
    member: 'features',
    archive: 'features',
    path: '$.sae_features',
    held: ({ features }) => heldIn(features, ({ top }) => top),
  },
  regions: {
    member: 'features',
    path: '$.sae_features',
    held: ({ features }) => heldIn(features, ({ regions }) => regions),
  },
  residues: {
    member: 'rows',
    archive: 'rows',
    path: '$.sae_features',
    held: ({ rows }) => heldIn(rows, ({ top }) => top),
  },
  rows: {
    member: 'rows',
    archive: 'rows',
    held: ({ rows: part }) => heldIn(part, ({ rows }) => rows.map(({ feature }) => feature)),
  },
  level: { member: 'level', archive: 'features' },
  header: { member: 'names' },
  record: { member: 'single' },
  fold: {
    member: 'structure',
    held: ({ structure, isFolded }) => isFolded === true || (isKnown(structure) && structure !== null),
  },
};

/** The share of a part that a record holds. */
export function heldBy(record: ProteinRecord, name: PartName): Held {
  const { member, held } = PARTS[name];
  return held === undefined ? record[member] !== UNKNOWN : held(record);
}
