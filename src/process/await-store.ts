// Waits at the start for a store on another machine: it may start at the same time, and a start keeps the
// event loop busy for longer than a connection is given. Reads the key that hashes tokens into the names
// of callers.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, ConfigError } from '../config.ts';
import { type LedgerSettings, readPrincipalKey, WrongSecretError } from '../store/ledger/principal-key.ts';
import type { Logger } from '../telemetry/log.ts';

/** Milliseconds that a store is waited for, and between two attempts. */
const MAX_WAIT_MS = 20_000;
const PAUSE_MS = 250;

/** Replies of Redis about passwords and rights: waiting changes neither. */
const REFUSAL = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)\b/;

const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && REFUSAL.test(error.cause.message);

/**
 * Does what needs the store, again and again while the store does not answer. A file is not waited for.
 *
 * @throws ConfigError at once, and what it failed with where the store refuses this user or has
 *   not answered in time
 */
export async function awaitStore<T>(
  { LEDGER_URL }: Pick<Config, 'LEDGER_URL'>,
  log: Pick<Logger, 'warn'>,
  work: () => Promise<T>,
  maxWaitMs = MAX_WAIT_MS,
): Promise<T> {
  const end = performance.now() + maxWaitMs;
  for (let isTold = false; ; isTold = true) {
    try {
      return await work();
    } catch (error) {
      const isRemote = /^rediss?:/.test(LEDGER_URL);
      const isLasting = !isRemote || error instanceof ConfigError || isRefused(error);
      if (isLasting || performance.now() >= end) throw error;
      if (!isTold) log.warn({ error }, 'waiting for the store');
      await sleep(PAUSE_MS);
    }
  }
}

/** @throws ConfigError for a ledger of another secret; Error when the store is unreachable */
export async function openPrincipalKey(settings: LedgerSettings): Promise<string> {
  try {
    return await readPrincipalKey(settings);
  } catch (error) {
    if (!(error instanceof WrongSecretError)) throw error;
    throw new ConfigError([
      'GATEWAY_SECRET: this ledger was written with another secret. With this one callers would not find ' +
        'their batches, and an idempotency key could be paid twice. Give the secret that was used before ' +
        '(without one configured: the .secret file beside the SQLite file). To change it, run ' +
        '`foldatlas rotate-secret`; if it is lost, `foldatlas rotate-secret --lost` ' +
        '(docs/operators.md, Keys).',
    ]);
  }
}
