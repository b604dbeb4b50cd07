// What an execution makes of failures when its client has left.
import { buildSchema, parse } from 'graphql';
import { expect, it } from 'vitest';
import { TurnClock } from '../../src/async/turn-clock.ts';
import { executeOperation } from '../../src/execution/execute-query.ts';

const schema = buildSchema('type Item { a: String } type Query { items: [Item] }');
const LIMITS = { values: 1_000_000, bytes: 1_000_000 };

/** What an execution answers whose end comes while the second half of its items is waited for. */
async function answerAtEnd(name: string, turnMs: number) {
  const ending = { aborted: false, reason: new DOMException('over', name) };
  const items = () =>
    Array.from({ length: 500 }, async (_, i) => {
      await new Promise(setImmediate);
      if (i < 250) return { a: 'there' };
      ending.aborted = true;
      throw ending.reason;
    });
  const args = {
    schema,
    document: parse('{ items { a } }'),
    rootValue: { items },
    contextValue: { upstream: { signal: ending } },
    limits: LIMITS,
    turns: new TurnClock(turnMs),
  };
  const { data, errors = [] } = (await executeOperation(args)) ?? {};
  return { items: data?.items, errors: errors.length };
}

// An execution that has all the time of a turn, and one whose turns are over at once.
const TURNS_MS = [Infinity, -1];

it('an execution whose client has left ends at the first failure, one whose time is up tells them all', async () => {
  for (const turnMs of TURNS_MS) {
    expect((await answerAtEnd('AbortError', turnMs)).errors).toBe(1);
    expect((await answerAtEnd('TimeoutError', turnMs)).errors).toBe(250);
  }
});

it('what is there when its time is up is answered, however busy the event loop is', async () => {
  const items = Array.from({ length: 500 }, (_, i) => (i < 250 ? { a: 'there' } : null));
  for (const turnMs of TURNS_MS)
    expect(await answerAtEnd('TimeoutError', turnMs)).toEqual({ items, errors: 250 });
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
