// One rule for every id that names nothing: null from a query, NotFound from a mutation, the code
// NOT_FOUND from a subscription, 404 from a file. An id that is no id of its kind is
// BAD_USER_INPUT.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, openWorld, type World } from '../support.ts';

const NOBODY = '0'.repeat(32);
const TOKEN = { authorization: 'Bearer sandbox' };

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const globalId = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64');
const node = (type: string, id: string) => `node(id: "${globalId(type, id)}") { id }`;

describe('an id that names nothing', () => {
  it.each([
    `protein(hash: "${NOBODY}") { hash }`,
    `cluster(hash: "${NOBODY}") { size }`,
    'feature(index: 99999) { label }',
    'uniprotEntry(id: "Q9XXX9") { name }',
    'batch(batchId: "nobody") { batchId }',
    'task(taskId: "nobody") { taskId }',
    'bulkLookup(lookupId: "nobody") { lookupId }',
    node('Protein', NOBODY),
    node('Cluster', NOBODY),
    node('Feature', '99999'),
    node('Batch', 'nobody'),
    node('Task', 'nobody'),
    node('BulkLookup', 'nobody'),
  ])('is null from the query %s', async (field) => {
    const { data, errors } = await world.query(`{ it: ${field} }`, {}, TOKEN);
    expect([data, errors]).toEqual([{ it: null }, undefined]);
  });

  it.each([
    ['batch', 'cancelBatch(batchId: "nobody")'],
    ['task', 'cancelTask(taskId: "nobody")'],
    ['bulk look-up', 'cancelBulkLookup(lookupId: "nobody")'],
  ])('is NotFound, with what there is no %s of and a hint, from %s', async (what, field) => {
    const { data } = await world.query(
      `mutation { it: ${field} { __typename ... on Problem { message hint } } }`,
      {},
      TOKEN,
    );
    expect(at(data, 'it')).toEqual({
      __typename: 'NotFound',
      message: expect.stringContaining(`There is no ${what} "nobody"`),
      hint: expect.stringMatching(/^Check the id/),
    });
  });

  it.each([
    'batchProgress(batchId: "nobody") { final }',
  ])('is NOT_FOUND from the subscription %s', async (field) => {
    const response = await world.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { ...TOKEN, 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: `subscription { ${field} }` }),
      }),
    );
    const [, event = ''] = /^data: (.+)$/m.exec(await response.text()) ?? [];
    expect(JSON.parse(event)).toMatchObject({
      errors: [{ message: expect.stringMatching(/^There is no /), extensions: { code: 'NOT_FOUND' } }],
    });
  });

  it.each([
    `/thumbnails/${NOBODY}/plddt.png`,
    `/structures/${NOBODY}.pdb`,
    '/tasks/nobody/result.json',
    '/tasks/nobody/structure.cif',
    '/bulk/nobody/0.zip',
  ])('is 404 from the file %s', async (path) => {
    const response = await world.gateway.fetch(new Request(`http://gateway.test${path}`, { headers: TOKEN }));
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringMatching(/^There is no such /),
    ]);
  });
});

describe('an id that is no id of its kind', () => {
  it.each([
    'protein(hash: "nobody") { hash }',
    'uniprotEntry(id: "who?") { name }',
    'batch(batchId: "") { batchId }',
    'task(taskId: " ") { taskId }',
    'bulkLookup(lookupId: "") { lookupId }',
    node('Protein', 'nobody'),
    node('Feature', 'nobody'),
    node('Nothing', 'nobody'),
    'node(id: "nobody") { id }',
  ])('is BAD_USER_INPUT: %s', async (field) => {
    const { errors } = await world.query(`{ it: ${field} }`, {}, TOKEN);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  });

  it('ends no process: lists of such ids fail item by item while many queries wait for their turn', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const answers = await Promise.all(
      Array.from({ length: 300 }, () =>
        world.query(`{ nodes(ids: ["a", "b", "${globalId('Nothing', 'c')}"]) { id } }`),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', note);
    for (const { errors } of answers) expect(errors).toHaveLength(3);
    expect(unhandled).toEqual([]);
  });
});
