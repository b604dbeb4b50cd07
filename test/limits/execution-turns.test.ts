// Operations that wait for the same answer go on in several turns of the event loop, not all in one.
import { buildSchema, parse } from 'graphql';
import { expect, it } from 'vitest';
import { executeOperation } from '../../src/execution/execute-query.ts';
import { block } from '../cpu-time.ts';

const schema = buildSchema('type Query { item: Item } type Item { number: Int }');
const document = parse('{ item { number } }');

it('lets other work have its turn between operations that one answer continues', async () => {
  let arrive: (item: object) => void = () => undefined;
  const coming = new Promise<object>((resolve) => {
    arrive = resolve;
  });
  const limits = { values: 1000, bytes: 1000 };
  let turn = 0;
  const turns = new Set<number>();
  const item = {
    number: () => {
      turns.add(turn);
      block(10);
      return 1;
    },
  };
  const all = Array.from({ length: 12 }, () =>
    executeOperation({ schema, document, limits, contextValue: {}, rootValue: { item: () => coming } }),
  );
  let isOver = false;
  const other = (): void => {
    turn += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(() => {
    other();
    arrive(item);
  });
  expect(await Promise.all(all)).toEqual(all.map(() => ({ data: { item: { number: 1 } } })));
  isOver = true;
  // Of operations that take longer than a turn each, a turn continues one, and the one that the answer itself continues.
  expect(turns.size).toBeGreaterThan(9);
});
