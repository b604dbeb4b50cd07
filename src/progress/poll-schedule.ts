// The interval between polls of a batch.

/** Poll intervals in milliseconds. */
export interface PollScheduleOptions {
  /** Between the first polls. */
  readonly first: number;
  /** Largest interval. */
  readonly slowest: number;
}

/** A new batch changes within seconds, an old one within minutes. */
export const defaultPollSchedule: PollScheduleOptions = { first: 2_000, slowest: 30_000 };

/** The present interval of a batch. */
export interface PollInterval {
  /** Milliseconds between polls. */
  readonly interval: number;
  /** Polls made at this interval so far. */
  readonly polls: number;
}

const POLLS_A_RUNG = 3;
/** Random share by which a pause is shorter or longer, so that pollers do not synchronise. */
const JITTER = 0.2;

/** The interval of a batch that was just submitted, cancelled or subscribed to. */
export const firstInterval = (rules: PollScheduleOptions): PollInterval => ({
  interval: rules.first,
  polls: 0,
});

/** The interval after one more poll: doubled after three polls, up to the largest. */
export function nextInterval({ interval, polls }: PollInterval, rules: PollScheduleOptions): PollInterval {
  return polls + 1 < POLLS_A_RUNG
    ? { interval, polls: polls + 1 }
    : { interval: Math.min(interval * 2, Math.max(rules.slowest, rules.first)), polls: 0 };
}

/**
 * Milliseconds until the next poll.
 *
 * @param random - 0 to 1
 * @param retryAfterSeconds - of the upstream; the pause is never shorter
 */
export function delayMs({ interval }: PollInterval, random: number, retryAfterSeconds = 0): number {
  return Math.round(Math.max(interval * (1 - JITTER + 2 * JITTER * random), retryAfterSeconds * 1000));
}
