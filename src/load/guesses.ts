// How often one address may be wrong about who it is. It knows no keys.
import type { Guesses } from '../callers/caller.ts';
import type { RateLimit } from './rate-limit.ts';

/** @param perMinute - wrong keys of one address; 0: any number */
export function openGuesses(limit: RateLimit, perMinute: number): Guesses {
  const keyOf = (address: string): string => `guess:${address}`;
  return {
    refusedFor: (address) => (address === undefined ? 0 : limit.refusedFor(keyOf(address))),
    async failed(address) {
      if (address !== undefined && perMinute > 0) await limit.spend({ key: keyOf(address), perMinute });
    },
  };
}
