// What one watcher is told of a batch's snapshots: state for state, failures once a streak, tasks only those that changed
// since its last event. It remembers two numbers for each watcher.

import type { Failure } from '../upstream/errors.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import { changedSince, isSettledPage, lacksTasks, type Snapshot, TELL_AFTER } from './snapshot.ts';
import type { Read } from './topic.ts';

/** One event of a watch. */
export type BatchNews =
  | {
      readonly kind: 'progress';
      readonly sequence: number;
      readonly page: BatchPage;
      /** Empty for a watcher that did not ask for tasks. */
      readonly changed: readonly ListItem[];
      /** Seconds until the next poll; null after the last event. */
      readonly nextPollSeconds: number | null;
      readonly final: boolean;
    }
  | { readonly kind: 'failure'; readonly message: string; readonly failure: Failure };

/**
 * Makes the reader of one watcher.
 *
 * @param tasks - whether it asked for changed tasks; then it waits for them where a poll only brought counts
 */
export function createNews(tasks: boolean, now: () => number): Read<Snapshot, BatchNews> {
  let sequence = 0;
  let told = 0;
  return (snapshot) => {
    const { page, streak, over } = snapshot;
    if (streak !== null && (streak.count >= TELL_AFTER || over)) {
      if (told === streak.since) return undefined;
      told = streak.since;
      return { kind: 'failure', message: streak.message, failure: streak.failure };
    }
    if (page === null || snapshot.sequence <= sequence || (tasks && lacksTasks(snapshot))) return undefined;
    const changed = tasks ? changedSince(snapshot, sequence) : [];
    sequence = snapshot.sequence;
    const final = isSettledPage(page);
    const nextPollSeconds = final ? null : Math.max(0, Math.ceil((snapshot.dueAt - now()) / 1000));
    return { kind: 'progress', sequence, page, changed, nextPollSeconds, final };
  };
}
