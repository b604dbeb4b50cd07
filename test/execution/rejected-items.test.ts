// A list of promises of which some reject while the execution has yielded to the event loop: an unhandled rejection ends the process.
import { buildSchema, execute, parse } from 'graphql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TurnClock } from '../../src/async/turn-clock.ts';
import { countedSchema, countFor } from '../../src/execution/counted-schema.ts';
import { executeOperation } from '../../src/execution/execute-query.ts';
import { ExecutionBudget } from '../../src/execution/execution-budget.ts';

const schema = buildSchema(
  'type Item { a: String } type Shelf { items: [Item] words: [String] } type Query { shelf: Shelf }',
);
const limits = { values: 1_000_000, bytes: 1_000_000 };
const ITEMS = 1_000;

/** Each fails in the next turn of the event loop. */
const failing = () =>
  Array.from({ length: ITEMS }, async () => {
    await new Promise(setImmediate);
    throw new Error('The service does not answer.');
  });

let unhandled = 0;
const count = () => {
  unhandled += 1;
};
beforeEach(() => {
  unhandled = 0;
  process.on('unhandledRejection', count);
});
afterEach(() => void process.off('unhandledRejection', count));

it.each([
  'items { a }',
  'words',
])('in `%s` each failure is told, and none is unhandled', async (selection) => {
  const result = await executeOperation({
    schema,
    document: parse(`{ shelf { ${selection} } }`),
    rootValue: { shelf: { items: failing, words: failing } },
    contextValue: {},
    limits,
    // No turn has time left: the list is completed in as many turns as it can be.
    turns: new TurnClock(-1),
  });
  expect(result?.errors).toHaveLength(ITEMS);
  expect(unhandled).toBe(0);
});

it('of items behind the one that is too much none is unhandled', async () => {
  const result = await executeOperation({
    schema,
    document: parse('{ shelf { items { a } } }'),
    rootValue: { shelf: { items: failing } },
    contextValue: {},
    limits: { values: 100, bytes: 1_000_000 },
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(result?.errors).toHaveLength(1);
  expect(unhandled).toBe(0);
});

it('nor is one in the executor of operations with `@defer`', async () => {
  const contextValue = {};
  countFor(contextValue, new ExecutionBudget({ values: 100, bytes: 1_000_000 }, contextValue));
  const result = await execute({
    schema: countedSchema(schema),
    document: parse('{ shelf { items { a } } }'),
    rootValue: { shelf: { items: failing } },
    contextValue,
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(result.errors).toHaveLength(1);
  expect(unhandled).toBe(0);
});
