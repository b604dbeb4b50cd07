// GATEWAY_SECRET, or the secret that a gateway with SQLite makes once beside its file.
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { isDiskError, restrict, sqlitePath } from '../sqlite-file.ts';
import { UnusableStoreError } from '../unusable-store.ts';
import { openTables } from './sqlite-tables.ts';
import { openWitness, secretFile } from './witness-file.ts';

/** Creates a file atomically and never replaces one: of processes that start together, one wins. */
function writeOnce(file: string, text: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
}

/**
 * The secret: the configured one, else the one beside the SQLite store (created at the first
 * start), else one for the life of the process.
 *
 * @param storeUrl - `sqlite:PATH` or `memory:`; a store that machines share needs a configured
 *   secret
 */
export function openSecret(storeUrl: string, configured: string | undefined): string {
  const path = sqlitePath(storeUrl);
  if (configured !== undefined) return configured;
  if (path === undefined || path === ':memory:') return randomBytes(32).toString('hex');
  const file = secretFile(path);
  const made = randomBytes(32).toString('hex');
  try {
    if (!existsSync(file)) {
      // The ledger first: a secret without one then tells that it was removed.
      openWitness(path).close();
      openTables(path).close();
      writeOnce(file, made);
    }
    restrict(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    // On a full or read-only disk nothing is stored under the names that it makes.
    if (isDiskError(error) || error instanceof UnusableStoreError) return made;
    throw error;
  }
}
