// Whether a caller may submit now: model configuration, rate limit, credits (spec: 422 and 429 of
// Submit). What was used is read from the stored batches, so a restart forgets nothing.
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import { Refusal } from './refusal.ts';
import type { BatchStore } from './store.ts';
import type { Caller } from './tokens.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const retryAfter = (ms: number) => ({
  headers: { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) },
});

/**
 * Lets a submission of `credits` pass.
 *
 * @throws Refusal 403 for a key that may not use the model, 422 without a model rate-limit
 *   configuration, 429 with Retry-After (seconds) when the token has submitted too often or has no
 *   credits left
 */
export function checkAccount(
  { store, clock, limits }: { store: BatchStore; clock: Clock; limits: Limits },
  { owner, fate }: Caller,
  credits: number,
): void {
  if (fate === 'forbidden')
    throw new Refusal(403, 'The model is not allowed for this key; ask for access or use another key.');
  if (fate === 'unconfigured')
    throw new Refusal(
      422,
      'No supported model rate-limit configuration is available for this key; ask for the model to be enabled.',
    );

  const now = clock.now();
  const recent = store.submissionsAfter(owner, now - MINUTE_MS);
  const first = recent[recent.length - limits.submissionsPerMinute];
  if (fate === 'rate-limited' || first !== undefined) {
    const wait = (first ?? now) + MINUTE_MS - now;
    const text = `Rate limit exceeded: at most ${limits.submissionsPerMinute} submissions a minute; wait and submit again.`;
    throw new Refusal(429, text, retryAfter(wait));
  }

  const midnight = now - (now % DAY_MS);
  const spent = store.spentSince(owner, midnight);
  if (fate === 'no-credits' || spent + credits > limits.creditsPerDay) {
    const left = fate === 'no-credits' ? 0 : limits.creditsPerDay - spent;
    const text = `You have exceeded your daily credit limit: this batch needs ${credits} credits and ${left} are left until midnight UTC.`;
    throw new Refusal(429, text, retryAfter(midnight + DAY_MS - now));
  }
}
