// How long to wait before the next poll of a batch. Pure: it knows neither clocks nor calls.

/** How fast polling may be. Milliseconds. */
export interface PollScheduleOptions {
  /** Between the first polls. */
  readonly first: number;
  /** Between polls at the slowest. */
  readonly slowest: number;
}

/** A new batch moves within seconds, an old one within minutes. */
export const defaultPollSchedule: PollScheduleOptions = { first: 2_000, slowest: 30_000 };

/** Where the polling of a batch has got to. */
export interface PollInterval {
  /** Milliseconds between polls on this rung. */
  readonly interval: number;
  /** Polls made on this rung so far. */
  readonly polls: number;
}

const POLLS_A_RUNG = 3;
/** Share of the interval by which a pause may be shorter or longer, so that pollers do not march in step. */
const JITTER = 0.2;

/** The pace of a batch that was just submitted, cancelled or opened. */
export const firstInterval = (rules: PollScheduleOptions): PollInterval => ({
  interval: rules.first,
  polls: 0,
});

/** The pace after one more poll: three polls a rung, then twice the interval, up to the slowest. */
export function nextInterval({ interval, polls }: PollInterval, rules: PollScheduleOptions): PollInterval {
  return polls + 1 < POLLS_A_RUNG
    ? { interval, polls: polls + 1 }
    : { interval: Math.min(interval * 2, Math.max(rules.slowest, rules.first)), polls: 0 };
}

/**
 * Milliseconds until the next poll.
 *
 * @param random - 0 to 1
 * @param retryAfterSeconds - what the upstream asked for; never undercut
 */
export function delayMs({ interval }: PollInterval, random: number, retryAfterSeconds = 0): number {
  return Math.round(Math.max(interval * (1 - JITTER + 2 * JITTER * random), retryAfterSeconds * 1000));
}
