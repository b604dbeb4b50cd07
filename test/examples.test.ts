// Every example runs as it stands against the sandbox. What an example asks for by id is made by
// the ones before it, as a reader of them would do.
import { type OperationDefinitionNode, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from '../src/http/pages/examples.ts';
import { createExampleIds } from './example-ids.ts';
import { type Answer, at, openWorld, type World } from './support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({}, { speed: 50 });
});
afterAll(() => world.close());

const examples = readExamples();
const HEADERS = { authorization: 'Bearer examples' };

const listOperations = (query: string): OperationDefinitionNode[] =>
  parse(query).definitions.filter((definition) => definition.kind === 'OperationDefinition');

const ids = createExampleIds();

/** Waits until nothing of a batch is queued or running. */
async function settle(batchId: string): Promise<void> {
  for (;;) {
    const { data } = await world.query(
      `query($b: ID!) { batch(batchId: $b) { status } }`,
      { b: batchId },
      HEADERS,
    );
    if (at(data, 'batch.status') === 'DONE') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Every event of a subscription, over Server-Sent Events, to its end. */
async function events(query: string, variables: Record<string, string>): Promise<Answer[]> {
  const response = await world.gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...HEADERS },
      body: JSON.stringify({ query, variables }),
    }),
  );
  const text = await response.text();
  expect(text).toMatch(/^event: complete$/m);
  return [...text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Answer);
}

describe('examples', () => {
  it('are there, each one named operation with a comment on top', () => {
    expect(examples.length).toBeGreaterThan(8);
    for (const { name, query } of examples) {
      expect(query, name).toMatch(/^# \S/);
      expect(listOperations(query), name).toHaveLength(1);
      expect(listOperations(query)[0]?.name?.value, name).toMatch(/^[A-Z]/);
    }
  });

  it.each(examples.map((example) => [example.name, example] as const))('%s answers', async (_, { query }) => {
    const operation = listOperations(query)[0];
    const variables = ids.variablesFor(query);
    const answers =
      operation?.operation === 'subscription'
        ? await events(query, variables)
        : [await world.query(query, variables, HEADERS)];
    expect(answers.length).toBeGreaterThan(0);
    for (const { data, errors } of answers) {
      expect(errors).toBeUndefined();
      expect(Object.values(Object(data)).every((value) => value !== null)).toBe(true);
      ids.remember(data);
      if (operation?.name?.value.startsWith('Submit'))
        await settle(String(at(data, 'submitFold.batch.batchId')));
    }
  });
});
