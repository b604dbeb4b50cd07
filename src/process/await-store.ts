// Waits at the start for a store on another machine, which may start at the same time.
import { setTimeout as sleep } from 'node:timers/promises';
import { isRedis } from '../config/variables.ts';
import { type Config, ConfigError } from '../config.ts';
import { WrongSecretError } from '../store/ledger/mark.ts';
import { UnusableStoreError } from '../store/unusable-store.ts';
import type { Logger } from '../telemetry/log.ts';

/** How long the start waits for a store, and between two attempts. */
const MAX_WAIT_MS = 20_000;
const PAUSE_MS = 250;

/** Replies of Redis about passwords and rights: waiting changes neither. */
const REFUSAL = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)\b/;

const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && REFUSAL.test(error.cause.message);

/**
 * Tries `work` again and again while a store on another machine does not answer.
 *
 * @throws at once: ConfigError for a ledger of another secret, and what a store says that answers;
 *   the last failure of one that has not answered in time
 */
export async function awaitStore<T>(
  { LEDGER_URL }: Pick<Config, 'LEDGER_URL'>,
  log: Pick<Logger, 'warn'>,
  work: () => Promise<T>,
  maxWaitMs = MAX_WAIT_MS,
): Promise<T> {
  const end = performance.now() + maxWaitMs;
  for (let isLogged = false; ; isLogged = true) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof WrongSecretError) throw new ConfigError([`GATEWAY_SECRET: ${error.message}`]);
      // A store that has lost its past has answered.
      const isAnswer = isRefused(error) || error instanceof UnusableStoreError;
      if (isAnswer || !isRedis(LEDGER_URL) || performance.now() >= end) throw error;
      if (!isLogged) log.warn({ error }, 'waiting for the store');
      await sleep(PAUSE_MS);
    }
  }
}
