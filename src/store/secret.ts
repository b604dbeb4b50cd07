// The server secret that keys the names of principals, so that a leaked store tells nothing of tokens. It must outlive a
// restart, else nobody would find their batches again.
import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { makePrivateFolder, restrict } from './private-file.ts';

/** Writes a file whole or not at all, and never over another: of processes that start together, one wins. */
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
 * The secret: the configured one, else one that lies beside the SQLite store (made at the first start), else one that
 * lives as long as the process.
 *
 * @param storeUrl - `sqlite:PATH` or `memory:`; a store that machines share needs a configured one, so that they agree
 */
export function openSecret(storeUrl: string, configured: string | undefined): string {
  if (configured !== undefined) return configured;
  const path = /^sqlite:(.+)$/.exec(storeUrl)?.[1];
  if (path === undefined || path === ':memory:') return randomBytes(32).toString('hex');
  const file = `${path}.secret`;
  makePrivateFolder(file);
  restrict(file);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    writeOnce(file, randomBytes(32).toString('hex'));
    return readFileSync(file, 'utf8');
  }
}
