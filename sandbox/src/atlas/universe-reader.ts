// A grown universe as it is read: the proteins, clusters, knowledge-base entries and the feature
// index that every Atlas route answers from.
import type { Database } from '../database.ts';
import type { FoldState } from './members.ts';
import type { Postings } from './postings.ts';
import { measureRarity, type Rarity } from './rarity.ts';
import { measureNorms } from './similarity.ts';

/** A protein that anybody may read. */
export interface AtlasProtein {
  readonly id: number;
  readonly hash: string;
  readonly sequence: string;
  readonly source: string;
  readonly accession: string;
  readonly uniref: string;
  readonly header: string;
  readonly fold: FoldState;
  readonly reviewed: boolean;
  readonly cluster: number | null;
}

/** A cluster, in the terms of the wire. */
export interface AtlasCluster {
  readonly id: number;
  readonly representative: string;
  readonly name: string;
  readonly size: number;
  readonly pctCharacterized: number;
  readonly meanDomainCoverage: number;
  readonly pfam: Readonly<Record<string, { name: string; count: number }>>;
  readonly taxon: { readonly rank: string; readonly name: string };
  readonly phyla: Readonly<Record<string, number>>;
}

/** An entry of the knowledge base; its hash need not be in the Atlas. */
export interface UniprotEntry {
  readonly accession: string;
  readonly entryName: string;
  readonly name: string;
  readonly gene: string | null;
  readonly organism: string;
  readonly function: string | null;
  readonly sequence: string;
  readonly hash: string;
}

/** Everything the Atlas routes read. */
export interface Universe {
  /** Readable proteins. */
  readonly proteinCount: number;
  readonly postings: Postings;
  readonly rarity: Rarity;
  /** Length of the normalised vector of each protein id. */
  readonly norms: Float64Array;
  /** 1 for each protein id that may only be counted, never shown. */
  readonly withheld: Uint8Array;
  /** Cluster of each protein id, -1 for none. */
  readonly clusterNumbers: Int32Array;
  /** Undefined when the Atlas does not hold it, or withholds it. */
  protein(hash: string): AtlasProtein | undefined;
  proteinById(id: number): AtlasProtein | undefined;
  cluster(id: number): AtlasCluster | undefined;
  clusterOfRepresentative(hash: string): AtlasCluster | undefined;
  /** Hashes of the readable members, representative first. */
  members(cluster: AtlasCluster): string[];
  /** Finds an entry by accession or entry name, in any case. */
  uniprot(id: string): UniprotEntry | undefined;
  close(): void;
}

type Row = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const FOLD_STATES: readonly string[] = ['ready', 'on_demand', 'slow', 'never'];
const isFoldState = (value: string): value is FoldState => FOLD_STATES.includes(value);

function readProtein(row: Row): AtlasProtein {
  const fold = text(row.fold);
  return {
    id: Number(row.id),
    hash: text(row.hash),
    sequence: text(row.sequence),
    source: text(row.source),
    accession: text(row.accession),
    uniref: text(row.uniref),
    header: text(row.header),
    fold: isFoldState(fold) ? fold : 'never',
    reviewed: row.reviewed === 1,
    cluster: row.cluster === null ? null : Number(row.cluster),
  };
}

const readCluster = (row: Row): AtlasCluster => ({
  id: Number(row.id),
  representative: text(row.representative),
  name: text(row.name),
  size: Number(row.size),
  pctCharacterized: Number(row.pct_characterized),
  meanDomainCoverage: Number(row.mean_domain_coverage),
  pfam: JSON.parse(text(row.pfam)),
  taxon: { rank: text(row.taxon_rank), name: text(row.taxon_name) },
  phyla: JSON.parse(text(row.phyla)),
});

const readEntry = (row: Row): UniprotEntry => ({
  accession: text(row.accession),
  entryName: text(row.entry_name),
  name: text(row.name),
  gene: textOrNull(row.gene),
  organism: text(row.organism),
  function: textOrNull(row.function),
  sequence: text(row.sequence),
  hash: text(row.hash),
});

function readPostings(database: Database): Postings {
  const read = database.prepare('SELECT bytes FROM postings WHERE part = ?');
  const part = (name: string): ArrayBuffer => {
    const bytes = read.get(name)?.bytes;
    if (!(bytes instanceof Uint8Array)) throw new Error(`the universe has no ${name}`);
    return new Uint8Array(bytes).buffer;
  };
  return {
    offsets: new Uint32Array(part('offsets')),
    proteins: new Uint32Array(part('proteins')),
    strengths: new Uint16Array(part('strengths')),
  };
}

/**
 * Opens a grown database for reading. The universe owns it from then on.
 *
 * @throws Error when the tables are not those of a universe
 */
export function readUniverse(database: Database): Universe {
  const postings = readPostings(database);
  const places = database.prepare('SELECT withheld, cluster FROM protein ORDER BY id').all();
  const withheld = Uint8Array.from(places, (row) => Number(row.withheld));
  const clusterNumbers = Int32Array.from(places, (row) => (row.cluster === null ? -1 : Number(row.cluster)));
  const rarity = measureRarity(postings, withheld);
  const byHash = database.prepare('SELECT * FROM protein WHERE hash = ? AND withheld = 0');
  const byId = database.prepare('SELECT * FROM protein WHERE id = ? AND withheld = 0');
  const clusterById = database.prepare('SELECT * FROM cluster WHERE id = ?');
  const clusterByHash = database.prepare('SELECT * FROM cluster WHERE representative = ?');
  const selectMembers = database.prepare(
    'SELECT hash FROM protein WHERE cluster = ? AND withheld = 0 ORDER BY hash <> ?, id',
  );
  const entryById = database.prepare('SELECT * FROM uniprot WHERE accession = ?1 OR entry_name = ?1');
  const one = <T>(row: Row | undefined, make: (row: Row) => T): T | undefined => row && make(row);
  return {
    proteinCount: withheld.reduce((sum, flag) => sum + 1 - flag, 0),
    postings,
    rarity,
    norms: measureNorms(postings, rarity, withheld.length),
    withheld,
    clusterNumbers,
    protein: (hash) => one(byHash.get(hash), readProtein),
    proteinById: (id) => one(byId.get(id), readProtein),
    cluster: (id) => one(clusterById.get(id), readCluster),
    clusterOfRepresentative: (hash) => one(clusterByHash.get(hash), readCluster),
    members: ({ id, representative }) => selectMembers.all(id, representative).map((row) => text(row.hash)),
    uniprot: (id) => one(entryById.get(id.toUpperCase()), readEntry),
    close: () => database.close(),
  };
}
