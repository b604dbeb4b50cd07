// How callers are named in the store: by a keyed hash of their token. When GATEWAY_SECRET changes,
// a caller's data move to the new name at the first request: without the token it cannot be told
// which name was the former one. A key is free only if it is free under all names of its caller.
import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Ledger } from './ledger.ts';

/** The secrets by which callers are named. */
export interface LedgerSecrets {
  readonly current: string;
  /**
   * GATEWAY_SECRET_PREVIOUS: what is stored under their names moves to the names of the current
   * one.
   */
  readonly previous?: readonly string[] | undefined;
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

/** The secrets before the current one, each once. */
export const formerSecrets = ({ current, previous = [] }: LedgerSecrets): string[] =>
  [...new Set(previous)].filter((secret) => secret !== current);

/** The names of a caller under the secrets before the current one. */
export const formerNames = (secrets: LedgerSecrets, identity: string | null): string[] =>
  identity === null ? [] : formerSecrets(secrets).map((secret) => principalName(secret, identity));

/**
 * Creates what moves a caller's data from its former names, once in the life of the process.
 *
 * @returns throws what the store failed with: the caller's batches would not be found
 */
export function createPrincipalMover(
  ledger: Ledger,
  secrets: LedgerSecrets,
): (caller: NamedCaller) => Promise<void> {
  const moves = new LRUCache<string, Promise<void>>({ maxSize: MAX_MOVED, sizeCalculation: () => 1 });

  const moveAll = async (names: readonly string[], principal: string): Promise<void> => {
    for (const name of names) await ledger.rename(name, principal);
  };

  return async ({ identity, principal }) => {
    if (principal === null) return;
    const names = formerNames(secrets, identity);
    if (names.length === 0) return;
    const move = moves.get(principal) ?? moveAll(names, principal);
    moves.set(principal, move);
    try {
      await move;
    } catch (error) {
      moves.delete(principal);
      throw error;
    }
  };
}
