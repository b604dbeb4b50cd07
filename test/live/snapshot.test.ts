// Snapshots and what of them is news: sequences, changed tasks, failures, the end by counts.
import { describe, expect, it } from 'vitest';
import { createProgressReader } from '../../src/progress/progress-events.ts';
import {
  afterFailure,
  afterReading,
  emptySnapshot,
  hasNoTaskPage,
  type Snapshot,
} from '../../src/progress/snapshot.ts';
import type { BatchPage, ListItem } from '../../src/upstream/wire.ts';

const next = { pace: { interval: 2000, polls: 0 }, dueAt: 5000 };
const now = () => 3100;

const pageOf = (status: string, counts: Record<string, number>): BatchPage => ({
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
const start = emptySnapshot(next.pace);
const queued = afterReading(start, { page: pageOf('in_progress', { queued: 3 }), items: null }, next);
const moving = (before: Snapshot) =>
  afterReading(
    before,
    {
      page: pageOf('in_progress', { queued: 1, in_progress: 1, done: 1 }),
      items: [item(0, 'done'), item(1, 'in_progress'), item(2, 'queued')],
    },
    next,
  );
const settled = (before: Snapshot) =>
  afterReading(
    before,
    {
      page: pageOf('in_progress', { done: 2, failed: 1 }),
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

  it('makes a watcher that wants tasks wait for them, and no other', () => {
    const counts = afterReading(
      queued,
      { page: pageOf('in_progress', { queued: 2, in_progress: 1 }), items: null },
      next,
    );
    expect(hasNoTaskPage(counts)).toBe(true);
    expect(hasNoTaskPage(queued)).toBe(false);
    expect(newsFor(true, now)(counts)).toBeUndefined();
    expect(newsFor(false, now)(counts)).toMatchObject({ sequence: 2, changed: [] });
    // Read later at the same counts, the tasks belong to the same sequence.
    const read = afterReading(
      counts,
      {
        page: pageOf('in_progress', { queued: 2, in_progress: 1 }),
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
    const page = pageOf('in_progress', { queued: 3 });
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
    const unknown = afterFailure(start, refusal, 1, next);
    expect(unknown.over).toBe(true);
    expect(newsFor(false, now)(unknown)).toMatchObject({ kind: 'failure' });
    const once = afterFailure(queued, refusal, 1, next);
    expect(once.over).toBe(false);
    expect(newsFor(false, now)(once)).toMatchObject({ kind: 'progress', sequence: 1 });
    expect(afterFailure(afterFailure(once, refusal, 2, next), refusal, 3, next).over).toBe(true);
  });
});
