// Grows a whole universe into an empty database: families, clusters, knowledge-base entries,
// inverted index. The same seed, size and FASTA text give the same bytes.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { chooseRepresentative, summarise } from './cluster-summary.ts';
import { parseFasta } from './fasta.ts';
import type { SparseVector } from './features.ts';
import { planFamilies } from './founders.ts';
import { growMembers, type Member } from './members.ts';
import { invert, toVector } from './postings.ts';
import { createRandom } from './random.ts';
import { createTables, UNIVERSE_FORMAT } from './tables.ts';
import { userMembers } from './user-proteins.ts';

/** The inputs that decide every byte of a universe. */
export interface Recipe {
  readonly seed: number;
  readonly size: 'full' | 'small';
  /** FASTA text of the user's own proteins, '' for none. */
  readonly fasta: string;
}

/** The recipe as it is kept in the file, to tell whether the file still fits. */
export const recipeText = ({ seed, size, fasta }: Recipe): string =>
  JSON.stringify({ format: UNIVERSE_FORMAT, seed, size, fasta });

/** Writes members and their cluster; remembers the vector of each, by id. */
function createWriter(database: Database, vectors: SparseVector[]) {
  const addProtein = database.prepare('INSERT INTO protein VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const addEntry = database.prepare('INSERT INTO uniprot VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const addCluster = database.prepare('INSERT INTO cluster VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  let clusters = 0;

  const writeEntry = ({ accession, sequence, hash, uniprot }: Member): void => {
    if (uniprot === null) return;
    const { entryName, name, gene, organism } = uniprot;
    addEntry.run(accession, entryName, name, gene, organism, uniprot.function, sequence, hash);
  };
  const writeProtein = (m: Member, cluster: number | null): void => {
    const withheld = m.standing === 'withheld' ? 1 : 0;
    const domains = JSON.stringify(m.domains);
    const id = vectors.push(toVector(m.sequence)) - 1;
    addProtein.run(
      id,
      m.hash,
      m.sequence,
      m.source,
      m.accession,
      m.uniref,
      m.header,
      m.fold,
      withheld,
      m.reviewed ? 1 : 0,
      cluster,
      domains,
    );
  };

  return (members: readonly Member[], name: string, clustered: boolean): void => {
    const readable = members.filter(({ standing }) => standing === 'member');
    const representative = clustered ? chooseRepresentative(readable) : undefined;
    const cluster = representative === undefined ? null : clusters++;
    for (const member of members) {
      if (member.standing !== 'withheld') writeEntry(member);
      if (member.standing !== 'absent') writeProtein(member, cluster);
    }
    if (representative === undefined) return;
    const s = summarise(readable);
    const title = representative.uniprot?.name ?? name;
    const pfam = JSON.stringify(s.pfam);
    const phyla = JSON.stringify(s.phyla);
    addCluster.run(
      cluster,
      representative.hash,
      title,
      s.size,
      s.pctCharacterized,
      s.meanDomainCoverage,
      pfam,
      s.taxon.rank,
      s.taxon.name,
      phyla,
    );
  };
}

const toBytes = (array: Uint32Array | Uint16Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

/**
 * Fills an empty database, giving the loop a turn between families.
 *
 * @throws Error when a reference sequence does not have its MD5, or the FASTA text is malformed
 */
export async function growUniverse(
  database: Database,
  recipe: Recipe,
  onProgress: (line: string) => void,
): Promise<void> {
  const { seed, size, fasta } = recipe;
  const users = parseFasta(fasta);
  const plans = planFamilies(seed, size);
  const vectors: SparseVector[] = [];
  const taken = new Set<string>();
  const alone = createRandom(seed, 'unclustered');
  createTables(database);
  const write = createWriter(database, vectors);
  database.exec('BEGIN');
  for (const [done, plan] of plans.entries()) {
    const members = growMembers(seed, plan, taken);
    // Some proteins that resemble nothing are left out of the clustering.
    write(members, plan.name, plan.size > 1 || plan.reference !== undefined || alone.next() > 0.3);
    if (done % 100 === 99)
      onProgress(`grown ${vectors.length} proteins of ${done + 1} of ${plans.length} families`);
    await nextTurn();
  }
  for (const member of userMembers(users, taken)) write([member], member.header || member.accession, true);
  const addPostings = database.prepare('INSERT INTO postings VALUES (?, ?)');
  for (const [part, array] of Object.entries(invert(vectors))) addPostings.run(part, toBytes(array));
  database.prepare('INSERT INTO meta VALUES (?, ?)').run('recipe', recipeText(recipe));
  database.exec('COMMIT');
  onProgress(`the universe holds ${vectors.length} proteins`);
}
