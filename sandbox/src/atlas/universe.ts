// Opens the universe of a recipe, growing it when there is none yet.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { makePrivate } from '../private-file.ts';
import { openSqlite } from '../sqlite.ts';
import { growUniverse, type Recipe, recipeText } from './grow.ts';
import { readUniverse, type Universe } from './universe-reader.ts';

/**
 * The universe in a file; undefined when the file is missing, damaged, or was grown by another
 * recipe.
 */
function openKept(file: string, recipe: string): Universe | undefined {
  if (!existsSync(file)) return undefined;
  makePrivate(file);
  const database = openSqlite(file, { readOnly: true });
  try {
    const row = database.prepare("SELECT value FROM meta WHERE key = 'recipe'").get();
    if (row?.value === recipe) return readUniverse(database);
  } catch {
    // A universe can be grown again, whatever is wrong with it.
  }
  database.close();
  return undefined;
}

/**
 * Grows beside the file and moves it into place whole, so that a killed process leaves no
 * half-grown universe.
 */
async function growFile(file: string, recipe: Recipe, onProgress: (line: string) => void): Promise<void> {
  const seedling = `${file}.growing-${process.pid}`;
  rmSync(seedling, { force: true });
  makePrivate(seedling);
  const database = openSqlite(seedling);
  try {
    // A killed process loses nothing here, so no journal is needed.
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    await growUniverse(database, recipe, onProgress);
    database.close();
    renameSync(seedling, file);
  } catch (error) {
    if (database.isOpen) database.close();
    rmSync(seedling, { force: true });
    throw error;
  }
}

async function growInMemory(recipe: Recipe, onProgress: (line: string) => void): Promise<Universe> {
  const database = openSqlite(':memory:');
  await growUniverse(database, recipe, onProgress);
  return readUniverse(database);
}

/**
 * Small universes in memory, by recipe: one for all sandboxes of the process, which only read it.
 */
const shared = new LRUCache<string, Promise<Universe>>({ max: 4 });

/**
 * Takes the universe that another sandbox of the process has grown, or grows it. Closing leaves it
 * to the others.
 */
function openShared(recipe: Recipe, onProgress: (line: string) => void): Promise<Universe> {
  const key = recipeText(recipe);
  const universe =
    shared.get(key) ?? growInMemory(recipe, onProgress).then((grown) => ({ ...grown, close: () => {} }));
  shared.set(key, universe);
  return universe;
}

/**
 * Opens the universe of that seed and size, growing it first when the file is missing or was grown
 * otherwise.
 *
 * @param options.file path of the SQLite file, or ':memory:'
 * @param options.fasta path of a FASTA file whose proteins are added
 * @throws Error when the FASTA file cannot be read or is malformed, or a reference sequence fails
 * its MD5
 */
export async function openUniverse(options: {
  file: string;
  seed: number;
  size: 'full' | 'small';
  fasta?: string;
  onProgress?: (line: string) => void;
}): Promise<Universe> {
  const { file, seed, size, onProgress = () => {} } = options;
  const recipe = {
    seed,
    size,
    fasta: options.fasta === undefined ? '' : readFileSync(options.fasta, 'utf8'),
  };
  if (file === ':memory:') {
    const isShared = size === 'small' && options.fasta === undefined;
    return isShared ? openShared(recipe, onProgress) : growInMemory(recipe, onProgress);
  }
  const kept = openKept(file, recipeText(recipe));
  if (kept !== undefined) return kept;
  onProgress(`growing a ${size} universe from seed ${seed}; this happens once`);
  await growFile(file, recipe, onProgress);
  const grown = openKept(file, recipeText(recipe));
  if (grown === undefined) throw new Error(`${file} was grown but cannot be read`);
  return grown;
}
