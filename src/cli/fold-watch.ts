// Follows a batch to its end: a progress bar on a terminal, else a line per change. Reconnects
// broken streams.

import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskCounts } from '../upstream/folds/batch-states.ts';
import { type Answer, errorLines, type GatewayTarget } from './gateway-client.ts';
import { CliExit, EXIT, type Session } from './session.ts';

const WATCH = `subscription Watch($batchId: ID!) {
  batchProgress(batchId: $batchId) {
    final
    estimatedSecondsLeft
    batch { counts { total queued inProgress done failed cancelled } }
    changedTasks { taskId name state error { message } }
  }
}`;

export interface ChangedTask {
  readonly taskId: string;
  readonly name: string | null;
  readonly state: string;
  readonly error: { readonly message: string } | null;
}

interface Progress {
  readonly final: boolean;
  readonly estimatedSecondsLeft: number | null;
  readonly batch: { readonly counts: TaskCounts };
  readonly changedTasks: readonly ChangedTask[];
}

export interface WatchOptions {
  readonly onTasks: (tasks: readonly ChangedTask[]) => void;
  readonly saved: () => number;
}

const timeText = (seconds: number): string =>
  seconds < 90
    ? `about ${seconds} s left`
    : seconds < 5400
      ? `about ${Math.round(seconds / 60)} min left`
      : `about ${Math.round(seconds / 3600)} h left`;

const WIDTH = 28;

const settledOf = ({ done, failed, cancelled }: TaskCounts): number => done + failed + cancelled;

function countsText(counts: TaskCounts): string {
  const { total, queued, inProgress: running, done, failed, cancelled } = counts;
  const others = Object.entries({ failed, cancelled, running, queued }).filter(([, count]) => count > 0);
  const words = others.map(([word, count]) => `${count} ${word}`);
  return [`${settledOf(counts)}/${total}`, `${done} done`, ...words].join(' · ');
}

function bar(counts: TaskCounts): string {
  const full = counts.total === 0 ? 0 : Math.round((settledOf(counts) / counts.total) * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`;
}

/** How often a stream that ends early is opened again without news in between. */
const MAX_TRIES = 5;

function show(session: Session, progress: Progress, saved: number, before: string): string {
  const { batch, changedTasks, estimatedSecondsLeft, final } = progress;
  const text = [
    countsText(batch.counts),
    ...(saved > 0 ? [`${saved} saved`] : []),
    ...(estimatedSecondsLeft === null || final ? [] : [timeText(estimatedSecondsLeft)]),
  ].join(' · ');
  for (const { state, name, taskId, error } of changedTasks) {
    if (state === 'FAILED') session.say(`failed: ${name ?? taskId}: ${error?.message ?? 'no reason given'}`);
  }
  if (session.terminal) session.live(`${bar(batch.counts)} ${text}`);
  else if (text !== before) session.say(text);
  return text;
}

const progressOf = (answer: Answer): Progress | undefined =>
  (answer.data as { batchProgress?: Progress | null } | null | undefined)?.batchProgress ?? undefined;

/** Follows a batch until no task will change any more. */
export async function watchBatch(
  place: GatewayTarget,
  session: Session,
  batchId: string,
  { onTasks, saved }: WatchOptions,
): Promise<void> {
  let before = '';
  let lasting = false;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries > 0) await sleep(1000 * tries, undefined, { signal: session.signal });
    try {
      for await (const answer of place.watch(WATCH, { batchId })) {
        const progress = progressOf(answer);
        if (progress === undefined) {
          const lines = errorLines(answer);
          lasting = answer.errors?.some(({ extensions }) => extensions?.retryable !== true) === true;
          if (lasting) throw new CliExit(EXIT.unreachable, lines.join('\n'));
          for (const line of lines) session.say(line);
          continue;
        }
        tries = 0;
        onTasks(progress.changedTasks);
        before = show(session, progress, saved(), before);
        if (progress.final) return session.live('');
      }
    } catch (error) {
      // A failed first connection is reported at once; later the gateway may come back.
      if (session.signal.aborted || (error instanceof CliExit && (lasting || before === ''))) throw error;
      session.say('The stream broke off; opening it again.');
    }
  }
  throw new CliExit(EXIT.unreachable, 'The batch cannot be followed any more.');
}
