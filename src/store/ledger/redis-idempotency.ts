// Claims idempotency keys in Redis. A claim whose reply was lost may have been carried out, or may
// be later: it is undone as soon as the store answers again, so that the key is free for the next
// try.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '../redis-connection.ts';
import { CLAIM, REVOKE } from './redis-ledger-scripts.ts';

/** How long a claim that was given up is remembered, in case it is still on its way. */
const REVOKED_MS = 3_600_000;
const MAX_RETRY_MS = 2_000;

export interface ClaimRequest {
  /** The name of the key in Redis. */
  readonly place: string;
  /** First argument of the script. */
  readonly time: string;
  readonly requestHash: string;
  readonly retention: number;
}

export interface IdempotencyClaims {
  /** @returns what the script answers */
  take(request: ClaimRequest): Promise<unknown>;
  /** Gives up undoing. */
  close(): void;
}

/** @param revoked - prefix of the names of claims that were given up */
export function createIdempotencyClaims(redis: RedisConnection, revoked: string): IdempotencyClaims {
  const closing = new AbortController();

  async function undo(place: string, token: string): Promise<void> {
    for (let pause = 100; !closing.signal.aborted; pause = Math.min(MAX_RETRY_MS, pause * 2)) {
      try {
        await redis.run(REVOKE, [place, revoked + token], [token, String(REVOKED_MS)]);
        return;
      } catch {
        await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  return {
    async take({ place, time, requestHash, retention }) {
      const token = randomUUID();
      try {
        return await redis.run(
          CLAIM,
          [place, revoked + token],
          [time, requestHash, token, String(retention)],
        );
      } catch (error) {
        void undo(place, token);
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}
