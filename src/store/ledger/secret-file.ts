// GATEWAY_SECRET, or the secret that a gateway with SQLite makes once beside its file.
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { inTransaction, isDiskError, restrict, sqlitePath } from '../sqlite-file.ts';
import { UnusableStoreError } from '../unusable-store.ts';
import { checkSecrets, missingSecretError } from './mark.ts';
import { readFileMark } from './overwrite-check.ts';
import { openTables } from './sqlite-tables.ts';
import { openWitness, secretFile } from './witness-file.ts';

/** Writes a file whole: it replaces one that a power cut has emptied, and is never seen half. */
function writeWhole(file: string, text: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

const isMissing = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;

/** The mark of the ledger in a file; null where it has none. */
const readMark = (path: string): string | null => readFileMark(path)?.text ?? null;

/**
 * Checks that a gateway which starts has the secrets of its SQLite ledger. It writes nothing, also
 * no secret.
 *
 * @param isFounded - whether there was a ledger, also where its file is gone
 * @throws WrongSecretError
 */
export function checkSecretFile(
  storeUrl: string,
  configured: string | undefined,
  previous: readonly string[] | undefined,
  isFounded = false,
): void {
  const path = sqlitePath(storeUrl);
  if (path === undefined || path === ':memory:') return;
  const mark = readMark(path);
  if (mark === null && !isFounded) return;
  const file = secretFile(path);
  if (configured === undefined && isMissing(file)) throw missingSecretError(file);
  if (mark === null) return;
  checkSecrets(mark, { current: configured ?? readFileSync(file, 'utf8'), previous }, Date.now());
}

/**
 * The secret: the configured one, else the one beside the SQLite store (created at the first
 * start), else one for the life of the process.
 *
 * @param storeUrl - `sqlite:PATH` or `memory:`; a store that machines share needs a configured
 *   secret
 * @param isReplaced - whether a new one replaces one that is missing beside a ledger; without this
 *   the new one is not kept, and the ledger refuses it
 */
export function openSecret(storeUrl: string, configured: string | undefined, isReplaced = false): string {
  const path = sqlitePath(storeUrl);
  if (configured !== undefined) return configured;
  if (path === undefined || path === ':memory:') return randomBytes(32).toString('hex');
  const file = secretFile(path);
  const made = randomBytes(32).toString('hex');
  try {
    if (isMissing(file)) {
      if (!isReplaced && readMark(path) !== null) return made;
      // The ledger first: a secret without one then tells that it was removed.
      openWitness(path).close();
      const tables = openTables(path);
      try {
        // Processes that start together take turns by the lock, and the first one makes it.
        inTransaction(tables, () => {
          if (isMissing(file)) writeWhole(file, made);
        });
      } finally {
        tables.close();
      }
    }
    restrict(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    // On a full or read-only disk nothing is stored under the names that it makes.
    if (isDiskError(error) || error instanceof UnusableStoreError) return made;
    throw error;
  }
}
