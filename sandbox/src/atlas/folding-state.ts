// Knows which proteins have a structure now: those that the universe has folded, and those folded
// since because a client asked.
import type { Database } from '../database.ts';
import type { AtlasProtein } from './universe-reader.ts';

/** Chains of this many residues and more are never folded. */
const TOO_LONG = 700;

/** The result of reading one protein. */
export interface FoldStanding {
  readonly hasStructure: boolean;
  /** Folding was started by a request with fold_on_miss; the structure may still be on its way. */
  readonly onDemand: boolean;
}

/** Kept in the state database, so that what was folded stays folded. */
export interface FoldingState {
  /** Looks without changing anything. */
  standing(protein: AtlasProtein): FoldStanding;
  /**
   * One read of the single record: starts folding when it is asked for and possible, and finishes
   * what an earlier read started.
   */
  visit(protein: AtlasProtein, foldOnMiss: boolean): FoldStanding;
}

export function createFoldingState(database: Database): FoldingState {
  database.exec(
    'CREATE TABLE IF NOT EXISTS atlas_folded (hash TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID',
  );
  const find = database.prepare('SELECT done FROM atlas_folded WHERE hash = ?');
  const keep = database.prepare('INSERT OR REPLACE INTO atlas_folded VALUES (?, ?)');
  const standing = ({ hash, fold, sequence }: AtlasProtein): FoldStanding => {
    if (fold === 'never' || sequence.length >= TOO_LONG) return { hasStructure: false, onDemand: false };
    if (fold === 'ready') return { hasStructure: true, onDemand: false };
    const row = find.get(hash);
    return { hasStructure: row?.done === 1, onDemand: row !== undefined };
  };
  return {
    standing,
    visit(protein, foldOnMiss) {
      const before = standing(protein);
      const foldable = protein.fold !== 'never' && protein.sequence.length < TOO_LONG;
      if (before.hasStructure || !foldable) return before;
      if (before.onDemand) keep.run(protein.hash, 1);
      else if (foldOnMiss) keep.run(protein.hash, protein.fold === 'slow' ? 0 : 1);
      return standing(protein);
    },
  };
}
