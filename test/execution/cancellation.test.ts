// What an execution makes of failures when its client has left.
import { buildSchema, parse } from 'graphql';
import { expect, it } from 'vitest';
import { TurnClock } from '../../src/async/turn-clock.ts';
import { executeOperation } from '../../src/execution/execute-query.ts';

const schema = buildSchema('type Item { a: String } type Query { items: [Item] }');
const LIMITS = { values: 1_000_000, bytes: 1_000_000 };

/** How many errors tell of an end before which the list has all the time of a turn, or none. */
async function failures(name: string, turnMs: number): Promise<number | undefined> {
  const ending = { aborted: false, reason: new DOMException('over', name) };
  const items = () =>
    Array.from({ length: 500 }, async () => {
      await new Promise(setImmediate);
      ending.aborted = true;
      throw ending.reason;
    });
  const document = parse('{ items { a } }');
  const args = {
    schema,
    document,
    rootValue: { items },
    contextValue: { upstream: { signal: ending } },
    limits: LIMITS,
    turns: new TurnClock(turnMs),
  };
  const result = await executeOperation(args);
  return result !== undefined && 'errors' in result ? result.errors?.length : undefined;
}

it('an execution whose client has left ends at the first failure, one whose time is up tells them all', async () => {
  expect(await failures('AbortError', Infinity)).toBe(1);
  expect(await failures('TimeoutError', Infinity)).toBe(500);
});

it('what an execution has not begun when its time is up is one failure', async () => {
  expect(await failures('AbortError', -1)).toBe(1);
  expect(await failures('TimeoutError', -1)).toBe(1);
});

it('what a mutation has done is told when its time is up, however busy the event loop is', async () => {
  const ending = { aborted: false, reason: new DOMException('over', 'TimeoutError') };
  const turns = new TurnClock(-1);
  const submit = async () => {
    await new Promise(setImmediate);
    ending.aborted = true;
    // Other work has had all the time of this turn.
    turns.hasTime();
    return { a: 'paid' };
  };
  const result = await executeOperation({
    schema: buildSchema('type Item { a: String } type Query { a: String } type Mutation { submit: Item! }'),
    document: parse('mutation { one: submit { a } two: submit { a } }'),
    rootValue: { submit },
    contextValue: { upstream: { signal: ending } },
    limits: LIMITS,
    turns,
  });
  expect(result).toEqual({ data: { one: { a: 'paid' }, two: { a: 'paid' } } });
});
