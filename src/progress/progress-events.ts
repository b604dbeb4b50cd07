// Turns the snapshots of a batch into the events of one subscriber: every change of state, one
// failure for each streak, and the tasks that changed since its previous event.
import type { EventSelector } from '../async/broadcast.ts';
import type { Failure } from '../upstream/errors.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import {
  changedSince,
  isTerminalPage,
  needsTasks,
  REPORT_AFTER_FAILURES,
  type Snapshot,
  secondsLeft,
} from './snapshot.ts';

interface Progress {
  readonly kind: 'progress';
  readonly sequence: number;
  readonly page: BatchPage;
  /** Empty for a subscriber that did not select tasks. */
  readonly changed: readonly ListItem[];
  /** Seconds until the next poll; null in the last event. */
  readonly nextPollSeconds: number | null;
  /** Null until enough tasks finished to tell. */
  readonly estimatedSecondsLeft: number | null;
  readonly final: boolean;
}

/** One event. Subscribers at the same position share the object. */
export type BatchProgressEvent =
  | Progress
  | { readonly kind: 'failure'; readonly message: string; readonly failure: Failure };

/**
 * Creates the readers of a batch's subscribers.
 *
 * @returns a function that creates the reader of one subscriber. `tasks`: it selected changed
 * tasks, and waits for them when a poll read only counts
 */
export function createProgressReader(
  now: () => number,
): (tasks: boolean) => EventSelector<Snapshot, BatchProgressEvent> {
  // Subscribers at the same position get the same object, so that one response serves all. The
  // position includes the seconds until the next poll, so an event is never older than a second.
  let latest: Snapshot | undefined;
  const shared = new Map<string, Progress>();

  function toProgress(snapshot: Snapshot, page: BatchPage, since: number | null): Progress {
    if (latest !== snapshot) shared.clear();
    latest = snapshot;
    const final = isTerminalPage(page);
    const nextPollSeconds = final ? null : Math.max(0, Math.ceil((snapshot.dueAt - now()) / 1000));
    const position = `${since} ${nextPollSeconds}`;
    const known = shared.get(position);
    if (known !== undefined) return known;
    const changed = since === null ? [] : changedSince(snapshot, since);
    const { sequence } = snapshot;
    const estimatedSecondsLeft = secondsLeft(snapshot, page, now());
    const times = { nextPollSeconds, estimatedSecondsLeft };
    const progress: Progress = { kind: 'progress', sequence, page, changed, ...times, final };
    shared.set(position, progress);
    return progress;
  }

  return (tasks) => {
    let sequence = 0;
    let reportedStreak = 0;
    return (snapshot) => {
      const { page, over } = snapshot;
      const streak = snapshot.streak ?? (tasks ? snapshot.tasksStreak : null);
      if (streak !== null && (streak.count >= REPORT_AFTER_FAILURES || over)) {
        if (reportedStreak === streak.since) return undefined;
        reportedStreak = streak.since;
        return { kind: 'failure', message: streak.message, failure: streak.failure };
      }
      if (page === null || snapshot.sequence <= sequence || (tasks && needsTasks(snapshot))) return undefined;
      const since = tasks ? sequence : null;
      sequence = snapshot.sequence;
      return toProgress(snapshot, page, since);
    };
  };
}
