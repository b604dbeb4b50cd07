// How often somebody may do something: a bucket of tokens that fills up steadily, told by one moment in time (GCRA: when the
// bucket will be full again), so that every store can keep it in one field. What a store has to offer.

/** What to take of which bucket. */
export interface TokenRequest {
  readonly key: string;
  /** Tokens wanted, at least 1. */
  readonly tokens: number;
  /** What the bucket holds, and what flows into it in a minute. */
  readonly perMinute: number;
}

export interface TokenResult {
  /** 0 to the tokens wanted. */
  readonly granted: number;
  /** What is left behind that. */
  readonly left: number;
  /** Milliseconds until there is one more. */
  readonly waitMs: number;
}

/** Buckets, of which every process that shares the store sees the same. */
export interface TokenBucketStore {
  take(take: TokenRequest): Promise<TokenResult>;
  close(): Promise<void>;
}

export const MINUTE_MS = 60_000;

/**
 * Takes of a bucket.
 *
 * @param fullAt - when it is full again if nothing is taken, in milliseconds since the epoch
 */
export function takeTokens(
  fullAt: number,
  now: number,
  { tokens, perMinute }: TokenRequest,
): TokenResult & { fullAt: number } {
  const each = MINUTE_MS / perMinute;
  // No bucket takes longer than a minute to fill: one that seems to was used before the clock was set back.
  const from = Math.min(Math.max(fullAt, now), now + MINUTE_MS);
  // A ten-thousandth makes up for what fractions lose.
  const room = Math.floor((MINUTE_MS - (from - now)) / each + 1e-4);
  const granted = Math.max(0, Math.min(tokens, room));
  const next = from + granted * each;
  const left = Math.max(0, room - granted);
  return { granted, left, fullAt: next, waitMs: left > 0 ? 0 : Math.max(0, next + each - MINUTE_MS - now) };
}
