// Which answers to an event are shared between streams, and which are everybody's own.
import { GraphQLSchema, parse } from 'graphql';
import { expect, it } from 'vitest';
import { executionKey, shareExecution } from '../../src/http/graphql/plugins/subscriptions.ts';

const schema = new GraphQLSchema({});
const document = parse('subscription { x }');
const ask = (variableValues: Record<string, unknown>, audience: readonly unknown[] = ['a']) =>
  executionKey({ schema, document, variableValues }, audience);

/** Answers as often as it is asked, and counts. */
function counting(errors = false) {
  let calls = 0;
  const execute = async () => {
    calls += 1;
    return { data: { calls }, ...(errors ? { errors: [] } : {}) };
  };
  return { execute, calls: () => calls };
}

it('one answer serves all who ask the same of one event, at the same time or later', async () => {
  const event = {};
  const { execute, calls } = counting();
  const one = () => shareExecution(event, ask({ id: 1 }), execute, () => true);
  const answers = await Promise.all([one(), one(), one()]);
  expect(await one()).toBe(answers[0]);
  expect(answers.every((answer) => answer === answers[0])).toBe(true);
  expect(calls()).toBe(1);
});

it('another event, variable, document, operation or audience is another question', async () => {
  const event = {};
  const { execute, calls } = counting();
  const questions = [
    ask({ id: 1 }),
    ask({ id: 2 }),
    ask({ id: 1 }, ['b']),
    executionKey({ schema, document: parse('subscription { x }'), variableValues: { id: 1 } }, ['a']),
    executionKey({ schema, document, operationName: 'Other', variableValues: { id: 1 } }, ['a']),
  ];
  for (const question of questions) await shareExecution(event, question, execute, () => true);
  await shareExecution({}, ask({ id: 1 }), execute, () => true);
  await shareExecution('no object', ask({ id: 1 }), execute, () => true);
  expect(calls()).toBe(7);
});

it('errors, failures and the answer to one who has left stay their own', async () => {
  for (const [errors, isStill] of [
    [true, true],
    [false, false],
  ] as const) {
    const event = {};
    const { execute, calls } = counting(errors);
    const one = () => shareExecution(event, ask({}), execute, () => isStill);
    await Promise.all([one(), one(), one()]);
    expect(calls()).toBe(3);
  }
  const event = {};
  const failing = shareExecution(
    event,
    ask({}),
    async () => {
      throw new Error('mine');
    },
    () => true,
  );
  const { execute } = counting();
  const other = shareExecution(event, ask({}), execute, () => true);
  await expect(failing).rejects.toThrow('mine');
  expect(await other).toEqual({ data: { calls: 1 } });
});
