// How callers are named in the store: by a keyed hash of their token. When GATEWAY_SECRET changes,
// a caller's data move to the new name at the first request: without the token it cannot be told
// which name was the former one.
import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Ledger } from './ledger.ts';

/** The secrets by which callers are named. */
export interface LedgerSecrets {
  readonly current: string;
  /**
   * GATEWAY_SECRET_PREVIOUS: what is stored under its names moves to the names of the current one.
   */
  readonly previous?: string | undefined;
}

interface NamedCaller {
  /** The text that identifies the caller, such as a token; null for a caller without any. */
  readonly identity: string | null;
  readonly principal: string | null;
}

/** Callers whose data are known to have moved. */
const MAX_MOVED = 10_000;

/**
 * Name of a caller in the store: without the secret a stolen store tells of no token whose it is.
 */
export const principalName = (secret: string, identity: string): string =>
  createHmac('sha256', secret).update(identity).digest('base64url');

/** The previous secret; undefined where there is none, or where it is the current one. */
export const formerSecret = ({ current, previous }: LedgerSecrets): string | undefined =>
  previous === current ? undefined : previous;

/**
 * Creates what moves a caller's data from the former name, once in the life of the process.
 *
 * @returns throws what the store failed with: the caller's keys would be found free
 */
export function createPrincipalMover(
  ledger: Ledger,
  secrets: LedgerSecrets,
): (caller: NamedCaller) => Promise<void> {
  const former = formerSecret(secrets);
  const moves = new LRUCache<string, Promise<void>>({ maxSize: MAX_MOVED, sizeCalculation: () => 1 });

  return async ({ identity, principal }) => {
    if (former === undefined || identity === null || principal === null) return;
    const move = moves.get(principal) ?? ledger.rename(principalName(former, identity), principal);
    moves.set(principal, move);
    try {
      await move;
    } catch (error) {
      moves.delete(principal);
      throw error;
    }
  };
}
