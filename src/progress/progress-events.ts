// What one watcher is told of a batch's snapshots: state for state, failures once a streak, tasks only those that changed
// since its last event. It remembers two numbers for each watcher.

import type { EventSelector } from '../async/broadcast.ts';
import type { Failure } from '../upstream/errors.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import {
  changedSince,
  hasNoTaskPage,
  isTerminalPage,
  REPORT_AFTER_FAILURES,
  type Snapshot,
} from './snapshot.ts';

interface Progress {
  readonly kind: 'progress';
  readonly sequence: number;
  readonly page: BatchPage;
  /** Empty for a watcher that did not ask for tasks. */
  readonly changed: readonly ListItem[];
  /** Seconds until the next poll; null after the last event. */
  readonly nextPollSeconds: number | null;
  readonly final: boolean;
}

/** One event of a watch. Watchers that are told the same are given the same object. */
export type BatchProgressEvent =
  | Progress
  | { readonly kind: 'failure'; readonly message: string; readonly failure: Failure };

/**
 * Makes the readers of one batch's watchers.
 *
 * @returns makes one watcher's reader. `tasks` is whether it asked for changed tasks; then it waits for them where a poll only brought
 *   counts
 */
export function createProgressReader(
  now: () => number,
): (tasks: boolean) => EventSelector<Snapshot, BatchProgressEvent> {
  // A watcher is given the object that another one at the same place was given, so that whoever answers it can answer once for
  // a whole crowd. Seconds are part of the place: what is told is never older than one.
  let latest: Snapshot | undefined;
  const told = new Map<string, Progress>();

  function progressOf(snapshot: Snapshot, page: BatchPage, since: number | null): Progress {
    if (latest !== snapshot) told.clear();
    latest = snapshot;
    const final = isTerminalPage(page);
    const nextPollSeconds = final ? null : Math.max(0, Math.ceil((snapshot.dueAt - now()) / 1000));
    const place = `${since} ${nextPollSeconds}`;
    const known = told.get(place);
    if (known !== undefined) return known;
    const changed = since === null ? [] : changedSince(snapshot, since);
    const { sequence } = snapshot;
    const progress: Progress = { kind: 'progress', sequence, page, changed, nextPollSeconds, final };
    told.set(place, progress);
    return progress;
  }

  return (tasks) => {
    let sequence = 0;
    let streakTold = 0;
    return (snapshot) => {
      const { page, streak, over } = snapshot;
      if (streak !== null && (streak.count >= REPORT_AFTER_FAILURES || over)) {
        if (streakTold === streak.since) return undefined;
        streakTold = streak.since;
        return { kind: 'failure', message: streak.message, failure: streak.failure };
      }
      if (page === null || snapshot.sequence <= sequence || (tasks && hasNoTaskPage(snapshot)))
        return undefined;
      const since = tasks ? sequence : null;
      sequence = snapshot.sequence;
      return progressOf(snapshot, page, since);
    };
  };
}
