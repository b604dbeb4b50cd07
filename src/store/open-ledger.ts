// Chooses the ledger's store by its URL. It must not know what a ledger holds.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Ledger } from './ledger.ts';
import { openSqliteLedger } from './sqlite-ledger.ts';

/**
 * Opens the ledger.
 *
 * @param storeUrl - `sqlite:PATH` (the folder is made when it is missing) or `memory:`
 * @param now - milliseconds since the epoch
 * @throws Error when the file cannot be opened or belongs to a newer version of the gateway
 */
export function openLedger(storeUrl: string, now: () => number = Date.now): Ledger {
  if (storeUrl === 'memory:') return openSqliteLedger(':memory:', now);
  const [, file] = /^sqlite:(.+)$/.exec(storeUrl) ?? [];
  if (file === undefined) throw new Error('STORE_URL must be memory: or sqlite:PATH.');
  mkdirSync(dirname(file), { recursive: true });
  return openSqliteLedger(file, now);
}
