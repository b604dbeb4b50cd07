// What a caller submitted under a former secret moves to the present name when the caller comes: without
// the token nobody can tell which name was the former one.
import { LRUCache } from 'lru-cache';
import type { Ledger } from './ledger.ts';
import { principalName } from './mark.ts';

const MAX_MOVED = 10_000;

interface NamedCaller {
  readonly identity: string | null;
  readonly principal: string | null;
}

/**
 * Creates what moves the data of callers, each once in the life of the process.
 *
 * @returns throws what the store failed with: the caller's keys would be found free
 */
export function createFormerNames(ledger: Ledger): (caller: NamedCaller) => Promise<void> {
  const moves = new LRUCache<string, Promise<void>>({ maxSize: MAX_MOVED, sizeCalculation: () => 1 });

  async function move(identity: string, principal: string): Promise<void> {
    const names = ledger.formerSecrets().map((secret) => principalName(secret, identity));
    // A name that did not change would be moved onto itself, and be deleted.
    for (const name of names) if (name !== principal) await ledger.rename(name, principal);
  }

  return async ({ identity, principal }) => {
    if (identity === null || principal === null || ledger.formerSecrets().length === 0) return;
    const moving = moves.get(principal) ?? move(identity, principal);
    moves.set(principal, moving);
    await moving.catch((error: unknown) => {
      moves.delete(principal);
      throw error;
    });
  };
}
