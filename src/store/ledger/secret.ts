// The server secret that keys the names of principals, so that a leaked store reveals no token. It
// must outlive a restart: otherwise callers lose their batches.
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { makePrivateFolder, restrict } from '../private-file.ts';

/** Writes a file that is then put in its place whole. */
function writeDraft(file: string, text: string): string {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  return draft;
}

/** Creates a file atomically and never replaces one: of processes that start together, one wins. */
function writeOnce(file: string, text: string): void {
  const draft = writeDraft(file, text);
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** The file of a ledger's secret when none is configured; undefined unless it is a SQLite file. */
function secretFileOf(storeUrl: string): string | undefined {
  const path = /^sqlite:(.+)$/.exec(storeUrl)?.[1];
  return path === undefined || path === ':memory:' ? undefined : `${path}.secret`;
}

/**
 * Replaces the secret beside the SQLite file.
 *
 * @returns its path; undefined unless it is a SQLite file
 */
export function replaceSecretFile(storeUrl: string, secret: string): string | undefined {
  const file = secretFileOf(storeUrl);
  if (file !== undefined) renameSync(writeDraft(file, secret), file);
  return file;
}

/**
 * The secret: the configured one, else the one beside the SQLite store (created at the first
 * start), else one for the life of the process.
 *
 * @param storeUrl - `sqlite:PATH` or `memory:`; a store that machines share needs a configured
 *   secret
 */
export function openSecret(storeUrl: string, configured: string | undefined): string {
  if (configured !== undefined) return configured;
  const file = secretFileOf(storeUrl);
  if (file === undefined) return randomBytes(32).toString('hex');
  makePrivateFolder(file);
  restrict(file);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    writeOnce(file, randomBytes(32).toString('hex'));
    return readFileSync(file, 'utf8');
  }
}
