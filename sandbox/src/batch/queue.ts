// Moves tasks in time: queued, in_progress, done or failed, and cancelled at the 24-hour limit
// (spec: "States and transitions").
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import type { FoldAnswer } from './fold-worker.ts';
import type { Folder } from './folder.ts';
import type { BatchStore, TaskRow } from './store.ts';

interface QueueParts {
  readonly store: BatchStore;
  readonly clock: Clock;
  readonly folder: Folder;
  readonly limits: Limits;
  /** Durations are divided by it; deadlines and retention are not. */
  readonly speed: number;
  /**
   * True for a clock that stands still until it is advanced: then a task ends at its due time
   * whatever the computation needs, and `settled` waits for it, so that what a test reads depends
   * on the clock alone.
   */
  readonly held: boolean;
}

export interface Queue {
  /**
   * Tells that a batch was stored: its tasks start after the start delay and are cancelled at its
   * deadline.
   */
  added(batch: { batchId: string; submittedAt: number }): void;
  /**
   * Must be awaited before the store is read: applies deadlines, and under a held clock resolves
   * when every task that is due is finished in the store too.
   */
  settled(): Promise<void>;
  /** While on, nothing starts. */
  hold(on: boolean): void;
  /** Forgets everything; what is still being folded is thrown away. */
  clear(): void;
  /** Forgets everything as well, so that a look which waits for a task ends. */
  close(): void;
}

interface Running {
  readonly task: TaskRow;
  due: boolean;
  answer: FoldAnswer | undefined;
  /** Resolves when `answer` is there. */
  ready: Promise<void>;
}

interface Waiting {
  readonly batchId: string;
  readonly startsAt: number;
  /** A task that has not started by then is cancelled. */
  readonly deadline: number;
  running: number;
}

/** Tasks of one batch differ by up to a fifth, the same task always alike. */
function spread(taskNumber: number, batchId: string): number {
  const byte = createHash('sha256').update(`${batchId}/${taskNumber}`).digest()[0] ?? 0;
  return 0.8 + (0.4 * byte) / 255;
}

/**
 * Starts the queue on what the store holds: running tasks are run again, passed deadlines are
 * applied.
 */
export function startQueue({ store, clock, folder, limits, speed, held }: QueueParts): Queue {
  const waiting = new Map<string, Waiting>();
  const running = new Map<string, Running>();
  const timers = new Set<() => void>();
  let slots = limits.runningTasks;
  let holding = false;
  let closed = false;

  function after(ms: number, run: () => void): void {
    const cancel = clock.after(ms, () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  }

  function computeDuration({ batchId, number }: TaskRow, tokens: number): number {
    const whole = Math.min(limits.taskBaseMs + tokens * limits.taskPerTokenMs, limits.taskMaxMs);
    return Math.ceil((whole * spread(number, batchId)) / speed);
  }

  /** Applied at each look as well as by a timer: a machine that slept has late timers. */
  function applyDeadlines(): void {
    const now = clock.now();
    for (const { batchId, deadline } of waiting.values()) {
      if (now < deadline) continue;
      store.cancelQueued(batchId);
      waiting.delete(batchId);
    }
  }

  /**
   * The batch with the fewest running tasks among those that may start one; the oldest of equals.
   */
  function nextTask(): TaskRow | undefined {
    applyDeadlines();
    const now = clock.now();
    const eligible = [...waiting.values()].filter(({ startsAt }) => startsAt <= now);
    for (const batch of eligible.sort((a, b) => a.running - b.running)) {
      const task = store.nextQueued(batch.batchId);
      if (task !== undefined) return task;
      waiting.delete(batch.batchId);
    }
    return undefined;
  }

  function fill(): void {
    while (slots > 0 && !holding && !closed) {
      const task = nextTask();
      if (task === undefined) return;
      start(task);
    }
  }

  function start(task: TaskRow): void {
    const batch = store.batch(task.batchId);
    if (batch === undefined) return;
    const position = task.number % batch.positions;
    const repeatIndex = Math.floor(task.number / batch.positions);
    const { request, tokens } = store.input(task.batchId, position);
    store.start(task.taskId);
    slots -= 1;
    count(task.batchId, 1);
    const entry: Running = { task, due: false, answer: undefined, ready: Promise.resolve() };
    running.set(task.taskId, entry);
    entry.ready = folder
      .fold({ request, repeatIndex, createdAt: new Date(clock.now()).toISOString() })
      .then((answer) => {
        entry.answer = answer;
        finishWhenDone(entry);
      });
    after(computeDuration(task, tokens), () => {
      entry.due = true;
      if (held) release(task);
      finishWhenDone(entry);
    });
  }

  function count(batchId: string, change: number): void {
    const batch = waiting.get(batchId);
    if (batch !== undefined) batch.running += change;
  }

  function release(task: TaskRow): void {
    slots += 1;
    count(task.batchId, -1);
    fill();
  }

  function finishWhenDone(entry: Running): void {
    const { task, due, answer } = entry;
    if (!due || answer === undefined || closed || running.get(task.taskId) !== entry) return;
    running.delete(task.taskId);
    store.finish(task.taskId, answer);
    if (!held) release(task);
  }

  function added({ batchId, submittedAt }: { batchId: string; submittedAt: number }): void {
    const startsAt = submittedAt + Math.ceil(limits.startDelayMs / speed);
    const deadline = submittedAt + limits.queueDeadlineMs;
    waiting.set(batchId, { batchId, startsAt, deadline, running: 0 });
    after(deadline - clock.now(), applyDeadlines);
    begin(startsAt);
  }

  /**
   * Starts what may start then. A timer of the machine may be early by a millisecond, and
   * nothing else would look again.
   */
  function begin(startsAt: number): void {
    after(Math.max(startsAt - clock.now(), 0), () => (clock.now() < startsAt ? begin(startsAt) : fill()));
  }

  function resume(): void {
    const again: TaskRow[] = [];
    for (const batch of store.batches()) {
      const counts = store.counts(batch.batchId);
      if (counts.queued) added(batch);
      if (counts.in_progress) again.push(...store.running(batch.batchId));
    }
    applyDeadlines();
    for (const task of again) start(task);
  }

  function clear(): void {
    for (const cancel of timers) cancel();
    timers.clear();
    waiting.clear();
    running.clear();
    slots = limits.runningTasks;
  }

  resume();
  return {
    added,
    async settled() {
      applyDeadlines();
      if (!held) return;
      for (let due = dueTasks(); due.length > 0; due = dueTasks())
        await Promise.all(due.map(({ ready }) => ready));
    },
    hold(on) {
      holding = on;
      fill();
    },
    clear,
    close() {
      closed = true;
      clear();
    },
  };

  function dueTasks(): Running[] {
    return [...running.values()].filter(({ due }) => due);
  }
}
