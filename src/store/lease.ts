// A lease: a document that only one process can create, so that one replica at a time does a piece
// of work.
import type { Clock } from '../async/clock.ts';
import type { DocumentStore } from './documents.ts';

export interface Lease {
  /** Takes the lease, or renews it. @returns whether this process has it */
  claim(): Promise<boolean>;
  /** Gives the lease back, unless its time is over: it may be another replica's by then. */
  release(): Promise<void>;
}

/**
 * @param key - of what the lease is for
 * @param lifetimeMs - a replica that does not renew it for longer loses it
 */
export function createLease(
  documents: DocumentStore,
  key: string,
  lifetimeMs: number,
  { monotonic }: Clock,
): Lease {
  const leaseKey = `lease/${key}`;
  let version = 0;
  /** By the monotonic clock. */
  let claimedAt = 0;
  const heldVersion = (): number => (monotonic() - claimedAt < lifetimeMs ? version : 0);

  return {
    async claim() {
      const at = monotonic();
      const claimed = await documents.put(leaseKey, '', { expected: heldVersion(), lifetimeMs });
      if (claimed === null) return false;
      version = claimed;
      claimedAt = at;
      return true;
    },
    async release() {
      const expected = heldVersion();
      version = 0;
      if (expected > 0) await documents.put(leaseKey, '', { expected, lifetimeMs: 0 });
    },
  };
}
