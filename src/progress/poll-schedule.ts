// The interval between the polls of a batch: a new batch changes within seconds, an old one within
// minutes.

export interface PollScheduleOptions {
  /** Between the first polls. */
  readonly first: number;
  /** Largest interval. */
  readonly slowest: number;
}

export const defaultPollSchedule: PollScheduleOptions = { first: 2_000, slowest: 30_000 };

const POLLS_PER_STEP = 3;
/** Random share by which a pause is shorter or longer, so that pollers do not synchronise. */
const JITTER = 0.2;

/** Milliseconds between polls after that many: doubled after every three, up to the largest. */
export const intervalAfter = (polls: number, { first, slowest }: PollScheduleOptions): number =>
  Math.min(first * 2 ** Math.floor(polls / POLLS_PER_STEP), Math.max(slowest, first));

/**
 * Milliseconds until the next poll.
 *
 * @param random - 0 to 1
 * @param retryAfterSeconds - of the upstream; the pause is never shorter
 */
export function delayMs(interval: number, random: number, retryAfterSeconds = 0): number {
  return Math.round(Math.max(interval * (1 - JITTER + 2 * JITTER * random), retryAfterSeconds * 1000));
}
