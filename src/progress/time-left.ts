// Estimates how long a batch takes from the tasks that finished while it was watched.
import { readCounts } from '../upstream/folds/batch-states.ts';
import type { BatchPage } from '../upstream/wire.ts';

/** How many tasks had been folded or had failed when a poll saw more of them than before. */
export interface Completion {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly finished: number;
}

/** Only the latest completions count, because the pace of a service changes. */
const MAX_COMPLETIONS = 12;
/** Fewer say too little of a pace. */
const MIN_COMPLETIONS = 3;
const MIN_FINISHED = 5;

/** Cancelled tasks leave the queue at once and say nothing of the pace. */
function countFinished({ counts }: BatchPage): number {
  const { done, failed } = readCounts(counts);
  return done + failed;
}

/**
 * Adds what a poll saw. Tasks that had finished before the first poll are the start, and no
 * completion.
 */
export function addCompletion(
  completions: readonly Completion[],
  last: BatchPage | null,
  page: BatchPage,
  at: number,
): readonly Completion[] {
  const finished = countFinished(page);
  if (last === null || finished <= countFinished(last)) return completions;
  return [...completions, { at, finished }].slice(-MAX_COMPLETIONS);
}

/** Seconds until so many tasks have finished; null while too few were seen to finish. */
export function estimateSecondsLeft(
  completions: readonly Completion[],
  unfinishedCount: number,
  now: number,
): number | null {
  const [first] = completions;
  const last = completions.at(-1);
  if (first === undefined || last === undefined || completions.length < MIN_COMPLETIONS) return null;
  const finished = last.finished - first.finished;
  if (finished < MIN_FINISHED || last.at <= first.at) return null;
  // A pace that nothing has confirmed since then is slower by that time.
  const milliseconds = Math.max(last.at, now) - first.at;
  return Math.ceil((unfinishedCount * milliseconds) / finished / 1000);
}
