// Chooses the ledger's store by its URL.
import { type Clock, systemClock } from '../../async/clock.ts';
import { sqlitePath } from '../sqlite-file.ts';
import type { Ledger } from './ledger.ts';
import type { LedgerSecrets } from './principals.ts';
import { openRedisLedger } from './redis-ledger.ts';
import { openSqliteLedger } from './sqlite-ledger.ts';

export interface OpenStoreOptions {
  /** Milliseconds since the epoch; the store's own clock when absent. */
  readonly now?: () => number;
  /** The gateway's clock; by `now` alone when that is given, else the platform's. */
  readonly clock?: Pick<Clock, 'now' | 'monotonic'>;
  /** Called with every lost connection to a store on another machine. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Opens the ledger.
 *
 * @param storeUrl - `sqlite:PATH` (creates a missing folder), `memory:`, `redis://…` or
 *   `rediss://…`
 * @throws Error when the file cannot be opened or belongs to a newer version of the gateway
 */
export function openLedger(
  storeUrl: string,
  secrets: LedgerSecrets,
  { now, clock: given, onError = () => undefined }: OpenStoreOptions = {},
): Ledger {
  const clock = given ?? (now === undefined ? systemClock : { now, monotonic: now });
  if (/^rediss?:\/\//.test(storeUrl)) return openRedisLedger(storeUrl, secrets, { now, clock, onError });
  const sqliteNow = now ?? Date.now;
  if (storeUrl === 'memory:') return openSqliteLedger(':memory:', secrets, sqliteNow);
  const file = sqlitePath(storeUrl);
  if (file === undefined)
    throw new Error('LEDGER_URL must be memory:, sqlite:PATH, redis://HOST or rediss://HOST.');
  return openSqliteLedger(file, secrets, sqliteNow);
}
