// Any order of submitting, cancelling, waiting and restarting: what must hold after every step.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/property-runs.ts';
import { ManualClock } from '../../src/clock.ts';
import { batch, fold, HOUR, isJson, readItems, readText, startHeld } from './harness.ts';

type Step =
  | { do: 'submit'; items: number; repeat: number }
  | { do: 'wait'; ms: number }
  | { do: 'cancel batch'; pick: number }
  | { do: 'cancel task'; pick: number; task: number }
  | { do: 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      items: fc.integer({ min: 1, max: 3 }),
      repeat: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 500, 1500, 2500, 6000, 23 * HOUR),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel batch' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('cancel task' as const), pick: fc.nat(), task: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

/** The states that may follow each state, besides itself. */
const next: Record<string, string[]> = {
  queued: ['in_progress', 'done', 'failed', 'cancelled'],
  in_progress: ['done', 'failed'],
  done: [],
  failed: [],
  cancelled: [],
};

test('states only move forward, counts add up, four run at most, cancels count what was queued', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-invariants-'));
      const clock = new ManualClock();
      let held = await startHeld({ dataDir, clock, dialect: 'rich' });
      const batches: { id: string; total: number; states: Map<string, string> }[] = [];
      const expectState = (index: number, state: string) =>
        [...(batches[index]?.states.values() ?? [])].filter((word) => word === state).length;

      async function look(): Promise<void> {
        let running = 0;
        for (const known of batches) {
          const list = await held.call('list', { batch_id: known.id, include_responses: true });
          const seen = new Map(
            readItems(list).map((item) => [readText(item, 'task_id'), readText(item, 'status')]),
          );
          expect(seen.size).toBe(known.total);
          for (const [task, state] of seen) {
            const before = known.states.get(task) ?? 'queued';
            if (before !== state)
              expect([task, before, next[before]]).toEqual([task, before, expect.arrayContaining([state])]);
          }
          const counted: Record<string, number> = {};
          for (const state of seen.values()) counted[state] = (counted[state] ?? 0) + 1;
          expect(list.data.counts).toEqual(counted);
          running += counted.in_progress ?? 0;
          if (list.data.status === 'done') expect(counted).not.toMatchObject({ queued: expect.anything() });
          if (list.data.status === 'cancelled') expect(counted.queued ?? 0).toBe(0);
          known.states = seen;
        }
        expect(running).toBeLessThanOrEqual(4);
      }

      for (const one of steps) {
        const index = 'pick' in one && batches.length > 0 ? one.pick % batches.length : -1;
        const picked = batches[index];
        if (one.do === 'submit') {
          const { data } = await held.call(
            'submit',
            batch(Array(one.items).fill(fold('MK')), { repeat: one.repeat }),
          );
          batches.push({ id: readText(data, 'batch_id'), total: one.items * one.repeat, states: new Map() });
        } else if (one.do === 'wait') clock.advance(one.ms);
        else if (one.do === 'restart') {
          await held.sandbox.close();
          held = await startHeld({ dataDir, clock, dialect: 'rich' });
        } else if (one.do === 'cancel batch' && picked) {
          const queued = expectState(index, 'queued');
          const wasCancelled = (await held.call('list', { batch_id: picked.id })).data.status === 'cancelled';
          const answer = await held.call('cancel', { batch_id: picked.id });
          expect([answer.status, answer.data.cancelled]).toEqual(
            queued > 0 ? [200, queued] : wasCancelled ? [200, 0] : [409, undefined],
          );
        } else if (one.do === 'cancel task' && picked) {
          const [task = '', state = ''] = [...picked.states][one.task % picked.total] ?? [];
          const answer = await held.call('cancel', { task_id: task });
          expect([answer.status, answer.data.cancelled]).toEqual(
            state === 'queued' ? [200, 1] : state === 'cancelled' ? [200, 0] : [409, undefined],
          );
        }
        await look();
      }

      clock.advance(24 * HOUR);
      await look();
      for (const { states } of batches)
        for (const state of states.values()) expect(['done', 'cancelled']).toContain(state);
      const state: unknown = await (await fetch(`${held.url}/control`)).json();
      expect(isJson(state) && state.batches).toHaveLength(batches.length);
      await held.sandbox.close();
      rmSync(dataDir, { recursive: true });
    }),
    { numRuns: runs(5), interruptAfterTimeLimit: 20_000 },
  );
});
