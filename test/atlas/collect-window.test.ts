// Loaders make their calls when an execution has asked for all that it can, however many turns of the event loop that takes.
import { expect, it } from 'vitest';
import { CollectWindow } from '../../src/async/collect-window.ts';
import { TurnClock } from '../../src/async/turn-clock.ts';
import { ExecutionBudget } from '../../src/execution/execution-budget.ts';

const LIMITS = { values: 1000, bytes: 1000 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('makes the calls of a turn at its end', async () => {
  const collecting = new CollectWindow();
  let calls = 0;
  collecting.atEnd(() => {
    calls += 1;
  });
  expect(calls).toBe(0);
  await turn();
  expect(calls).toBe(1);
});

it('waits for an execution that goes on in later turns, and no longer', async () => {
  const collecting = new CollectWindow();
  const budget = new ExecutionBudget(LIMITS, { upstream: { collecting } }, new TurnClock(0));
  const order: string[] = [];
  collecting.atEnd(() => order.push('calls'));
  for (const step of ['first', 'second', 'third']) {
    await budget.nextTurn();
    order.push(step);
  }
  await turn();
  await turn();
  expect(order).toEqual(['first', 'second', 'third', 'calls']);
});

it('does not wait for the execution of another request', async () => {
  const [mine, other] = [new CollectWindow(), new CollectWindow()];
  other.hold();
  let calls = 0;
  mine.atEnd(() => {
    calls += 1;
  });
  await turn();
  expect(calls).toBe(1);
});
