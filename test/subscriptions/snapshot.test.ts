// Snapshots and what of them is news: sequences, changed tasks, failures, the end by counts.
import { describe, expect, it } from 'vitest';
import { createProgressReader } from '../../src/progress/progress-events.ts';
import {
  afterFailure,
  afterReading,
  EMPTY_SNAPSHOT,
  isBehind,
  needsTasks,
  type Snapshot,
  secondsLeft,
} from '../../src/progress/snapshot.ts';
import type { BatchPage, ListItem } from '../../src/upstream/wire.ts';

const next = { polls: 0, dueAt: 5000 };
const now = () => 3100;

const createPage = (status: string, counts: Record<string, number>): BatchPage => ({
  status,
  counts,
  batch_id: 'b',
  items: undefined,
  cursor: undefined,
  expires_at: undefined,
  results_expire_at: undefined,
  created_at: undefined,
});
const item = (id: number, status: string): ListItem => ({
  task_id: `b-0000${id}`,
  status,
  response: undefined,
  response_available: undefined,
  error: undefined,
});
const newsFor = (tasks: boolean, clock: () => number) => createProgressReader(clock)(tasks);
const queued = afterReading(
  EMPTY_SNAPSHOT,
  { page: createPage('in_progress', { queued: 3 }), items: null },
  next,
);
const moving = (before: Snapshot) =>
  afterReading(
    before,
    {
      page: createPage('in_progress', { queued: 1, in_progress: 1, done: 1 }),
      items: [item(0, 'done'), item(1, 'in_progress'), item(2, 'queued')],
    },
    next,
  );
const settled = (before: Snapshot) =>
  afterReading(
    before,
    {
      page: createPage('in_progress', { done: 2, failed: 1 }),
      items: [item(0, 'done'), item(1, 'failed'), item(2, 'done')],
    },
    next,
  );

describe('news of a batch', () => {
  it('grows in sequence when counts move, names just the tasks that changed, and ends by counts', () => {
    const read = newsFor(true, now);
    expect(read(queued)).toMatchObject({
      kind: 'progress',
      sequence: 1,
      changed: [],
      nextPollSeconds: 2,
      final: false,
    });
    expect(read(queued)).toBeUndefined();
    const second = moving(queued);
    expect(read(second)).toMatchObject({
      sequence: 2,
      changed: [{ task_id: 'b-00000' }, { task_id: 'b-00001' }],
    });
    const third = settled(second);
    // The aggregate word still says in_progress.
    expect(read(third)).toMatchObject({
      sequence: 3,
      changed: [
        { task_id: 'b-00001', status: 'failed' },
        { task_id: 'b-00002', status: 'done' },
      ],
      nextPollSeconds: null,
      final: true,
    });
    expect(third.over).toBe(true);
    // No counts are no end.
    const silent = afterReading(EMPTY_SNAPSHOT, { page: createPage('in_progress', {}), items: null }, next);
    expect(silent.over).toBe(false);
  });

  it('tells a latecomer and a slow reader everything that they missed, once', () => {
    const last = settled(moving(queued));
    const late = newsFor(true, now)(last);
    expect(late).toMatchObject({ sequence: 3, final: true });
    expect(late?.kind === 'progress' && late.changed.map(({ task_id }) => task_id)).toEqual([
      'b-00000',
      'b-00001',
      'b-00002',
    ]);
    const slow = newsFor(true, now);
    slow(moving(queued));
    const after = slow(last);
    expect(after?.kind === 'progress' && after.changed).toHaveLength(2);
  });

  it('goes on from a stored snapshot only where that does not go back', () => {
    const other = afterReading(
      EMPTY_SNAPSHOT,
      { page: createPage('in_progress', { queued: 2, done: 1 }), items: null },
      next,
    );
    expect([queued, other, moving(queued)].map((stored) => isBehind(stored, queued))).toEqual([
      false,
      true,
      false,
    ]);
    expect(isBehind(queued, moving(queued))).toBe(true);
  });

  it('makes a watcher that wants tasks wait for them, and no other', () => {
    const counts = afterReading(
      queued,
      { page: createPage('in_progress', { queued: 2, in_progress: 1 }), items: null },
      next,
    );
    expect(needsTasks(counts)).toBe(true);
    expect(needsTasks(queued)).toBe(false);
    expect(newsFor(true, now)(counts)).toBeUndefined();
    expect(newsFor(false, now)(counts)).toMatchObject({ sequence: 2, changed: [] });
    // Read later at the same counts, the tasks belong to the same sequence.
    const read = afterReading(
      counts,
      {
        page: createPage('in_progress', { queued: 2, in_progress: 1 }),
        items: [item(0, 'in_progress'), item(1, 'queued'), item(2, 'queued')],
      },
      next,
    );
    expect(newsFor(true, now)(read)).toMatchObject({ sequence: 2, changed: [{ task_id: 'b-00000' }] });
  });

  it('keeps quiet about failed reads until the third in a row, tells once, and tells of the recovery', () => {
    const failure = {
      message: 'away',
      failure: { operation: 'list', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    } as const;
    const read = newsFor(false, now);
    read(queued);
    let snapshot = queued;
    const told: unknown[] = [];
    for (let i = 0; i < 5; i += 1) {
      snapshot = afterFailure(snapshot, failure, 100 + i, next);
      told.push(read(snapshot));
      expect(snapshot.over).toBe(false);
    }
    expect(told.map((event) => event !== undefined)).toEqual([false, false, true, false, false]);
    expect(told[2]).toMatchObject({ kind: 'failure', message: 'away' });
    const page = createPage('in_progress', { queued: 3 });
    const back = afterReading(snapshot, { page, items: null }, next);
    expect(read(back)).toMatchObject({ kind: 'progress', sequence: 2 });
    const hiccup = afterReading(afterFailure(back, failure, 9, next), { page, items: null }, next);
    expect(read(hiccup)).toBeUndefined();
  });

  it('ends at once for what can never be read, but not for a batch that was read before', () => {
    const refusal = {
      message: 'no such batch',
      failure: { operation: 'list', code: 'BAD_USER_INPUT', retryable: false },
    } as const;
    const unknown = afterFailure(EMPTY_SNAPSHOT, refusal, 1, next);
    expect(unknown.over).toBe(true);
    expect(newsFor(false, now)(unknown)).toMatchObject({ kind: 'failure' });
    const once = afterFailure(queued, refusal, 1, next);
    expect(once.over).toBe(false);
    expect(newsFor(false, now)(once)).toMatchObject({ kind: 'progress', sequence: 1 });
    expect(afterFailure(afterFailure(once, refusal, 2, next), refusal, 3, next).over).toBe(true);
  });

  it('is certain of a permanent failure only when it repeats, and tells it also behind temporary ones', () => {
    const failed = (snapshot: Snapshot, code: 'UPSTREAM_UNAVAILABLE' | 'FORBIDDEN', at: number): Snapshot =>
      afterFailure(
        snapshot,
        { message: code, failure: { operation: 'list', code, retryable: code !== 'FORBIDDEN' } },
        at,
        next,
      );
    const read = newsFor(false, now);
    read(queued);
    let snapshot = queued;
    const told: unknown[] = [];
    for (const [at, isRefused] of [false, false, false, true, false, true, true, true].entries()) {
      expect(snapshot.over).toBe(false);
      snapshot = failed(snapshot, isRefused ? 'FORBIDDEN' : 'UPSTREAM_UNAVAILABLE', at + 1);
      const event = read(snapshot);
      if (event?.kind === 'failure') told.push([at, event.message]);
    }
    expect(snapshot.over).toBe(true);
    expect(told).toEqual([
      [2, 'UPSTREAM_UNAVAILABLE'],
      [7, 'FORBIDDEN'],
    ]);
  });
});

describe('the estimate of the time left', () => {
  /** The snapshot after polls, each with its time in seconds and what it counted. */
  const polled = (...polls: readonly [seconds: number, counts: Record<string, number>][]) =>
    polls.reduce(
      (snapshot, [seconds, counts]) =>
        afterReading(
          snapshot,
          { page: createPage('in_progress', counts), items: null },
          next,
          seconds * 1000,
        ),
      EMPTY_SNAPSHOT,
    );
  const estimate = (snapshot: Snapshot, seconds: number) =>
    snapshot.page === null ? undefined : secondsLeft(snapshot, snapshot.page, seconds * 1000);

  it('is null until three polls saw tasks finish, five of them after the first', () => {
    // Tasks that had finished before the first poll say nothing of the pace.
    expect(estimate(polled([0, { queued: 50, done: 50 }]), 0)).toBeNull();
    const two = polled([0, { queued: 100 }], [10, { queued: 96, done: 4 }], [20, { queued: 90, done: 10 }]);
    expect(estimate(two, 20)).toBeNull();
    const few = polled(
      [0, { queued: 9 }],
      [5, { queued: 8, done: 1 }],
      [9, { queued: 6, done: 3 }],
      [12, { queued: 4, done: 5 }],
    );
    expect(estimate(few, 12)).toBeNull();
  });

  it('follows from the pace of the tasks that finished while it was watched', () => {
    const steady = polled(
      [0, { queued: 100 }],
      // A long wait in the queue is no part of the pace.
      [1000, { queued: 90, in_progress: 4, done: 6 }],
      [1010, { queued: 86, in_progress: 4, done: 9, failed: 1 }],
      [1020, { queued: 82, in_progress: 4, done: 12, failed: 2 }],
    );
    // Eight in twenty seconds, 86 left.
    expect(estimate(steady, 1020)).toBe(215);
    // Nothing more for twenty seconds: the pace has halved.
    expect(estimate(steady, 1040)).toBe(430);
  });

  it('takes no cancelled task for a finished one, and is 0 in the end', () => {
    const polls: [number, Record<string, number>][] = [
      [0, { queued: 100 }],
      [10, { queued: 98, done: 2 }],
      [20, { queued: 95, done: 5 }],
      [30, { queued: 92, done: 8 }],
    ];
    expect(estimate(polled(...polls), 30)).toBe(307);
    expect(estimate(polled(...polls, [31, { queued: 12, done: 8, cancelled: 80 }]), 31)).toBe(42);
    expect(estimate(polled(...polls, [40, { done: 20, cancelled: 80 }]), 40)).toBe(0);
  });

  it('follows the latest pace', () => {
    const slower = Array.from({ length: 40 }, (_, i): [number, Record<string, number>] => {
      const done = i < 20 ? i * 10 : 200 + (i - 20);
      return [i * 10, { queued: 1000 - done, done }];
    });
    expect(estimate(polled(...slower), 390)).toBe((1000 - 219) * 10);
  });
});
