// How often one address may be wrong about who it is before it is told to wait. What is right is
// never counted here.
import type { Guesses } from '../callers/caller.ts';
import type { RateLimit } from './rate-limit.ts';

/** @param perMinute - wrong keys of one address; 0: any number */
export const openGuesses = (limit: RateLimit, perMinute: number): Guesses => ({
  async countWrong(address) {
    if (address === undefined || perMinute === 0) return 0;
    const { retryAfterSeconds } = await limit.spend({ key: `guess:${address}`, perMinute });
    return retryAfterSeconds;
  },
});
