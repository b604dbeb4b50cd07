// Limits log lines of one kind, so that neither a crowd nor a long table fills the log.

const LOG_INTERVAL_MS = 10_000;

/**
 * Lets the first line of a kind through at once, and later ones together.
 *
 * @returns how many events the line stands for; 0 for no line now
 */
export type LineLimiter = (kind: string) => number;

/** @param intervalMs - how often lines of one kind are written at most */
export function createLineLimiter(intervalMs = LOG_INTERVAL_MS): LineLimiter {
  const kinds = new Map<string, { events: number; loggedAt: number }>();
  return (kind) => {
    const seen = kinds.get(kind) ?? { events: 0, loggedAt: Number.NEGATIVE_INFINITY };
    kinds.set(kind, seen);
    seen.events += 1;
    const now = performance.now();
    if (now - seen.loggedAt < intervalMs) return 0;
    const { events } = seen;
    seen.events = 0;
    seen.loggedAt = now;
    return events;
  };
}
