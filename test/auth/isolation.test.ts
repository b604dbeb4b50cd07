// Callers never share what belongs to a batch: for every root field of the schema that reaches
// batches or tasks, and every file of a task, another caller gets the same answer for their ids as
// for ids that do not exist; over HTTP, event streams, WebSocket.
import { readdirSync, readFileSync } from 'node:fs';
import { type GraphQLNamedType, getNamedType, isAbstractType, isObjectType, parse, validate } from 'graphql';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { subgraphSchema } from '../../src/resolvers/schema.ts';
import { answersOf, type Served, serve, submit, subscribe } from '../subscriptions/streams.ts';
import { ask, openGateway } from '../subscriptions/support.ts';
import { at, listAt, type SeenCall } from '../support.ts';

interface Ids {
  readonly batch: string;
  readonly task: string;
}

const toNodeId = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64');
const BATCH = '__typename batchId label status counts { total } tasks { nodes { taskId name status } }';
const TASK =
  '__typename taskId name taskStatus: status scores { ptm } result { resultUrl signedUrl ptm raw } artifacts { url } batch { batchId label } inputChains { proteinHash }';
const PROBLEM = '... on Problem { message hint }';

/**
 * An operation for each root field that reaches what belongs to a batch. A new field has to be
 * added here.
 */
const CASES: Readonly<Record<string, (ids: Ids) => string>> = {
  'Query.batch': ({ batch }) => `{ batch(batchId: "${batch}") { ${BATCH} } }`,
  'Query.task': ({ task }) => `{ task(taskId: "${task}") { ${TASK} } }`,
  'Query.myBatches': () => `{ myBatches { totalCount nodes { ${BATCH} } } }`,
  'Query.node': ({ batch, task }) =>
    `{ a: node(id: "${toNodeId('Batch', batch)}") { ... on Batch { ${BATCH} } } b: node(id: "${toNodeId('Task', task)}") { ... on Task { ${TASK} } } }`,
  'Query.nodes': ({ batch, task }) =>
    `{ nodes(ids: ["${toNodeId('Batch', batch)}", "${toNodeId('Task', task)}"]) { ... on Batch { ${BATCH} } ... on Task { ${TASK} } } }`,
  'Query._entities': ({ batch, task }) =>
    `{ _entities(representations: [{ __typename: "Batch", batchId: "${batch}" }, { __typename: "Task", taskId: "${task}" }]) { ... on Batch { ${BATCH} } ... on Task { ${TASK} } } }`,
  'Query.lookup': ({ batch, task }) => `{ lookup(ids: ["${batch}", "${task}"]) { __typename } }`,
  'Mutation.cancelBatch': ({ batch }) =>
    `mutation { cancelBatch(batchId: "${batch}") { __typename ${PROBLEM} ... on Cancelled { cancelledCount } } }`,
  'Mutation.cancelTask': ({ task }) =>
    `mutation { cancelTask(taskId: "${task}") { __typename ${PROBLEM} ... on Cancelled { cancelledCount } } }`,
  // The key was used by the other caller, for another input: this caller has no such key,
  // and the fault is found before it is claimed.
  'Mutation.submitFold': () =>
    `mutation { submitFold(input: { items: [], idempotencyKey: "the owner's" }) { __typename ${PROBLEM} } }`,
  'Subscription.batchProgress': ({ batch }) =>
    `subscription { batchProgress(batchId: "${batch}") { sequence batch { ${BATCH} } changedTasks { ${TASK} } } }`,
};

/** The routes that serve what belongs to a batch. A new one has to be tried here. */
const ROUTES = ['batch-archive.ts', 'batches.ts', 'tasks.ts'];

/** Whether a type leads to batches or tasks by any path of fields. */
function reaches(type: GraphQLNamedType, seen = new Set<string>()): boolean {
  if (type.name === 'Batch' || type.name === 'Task') return true;
  if (seen.has(type.name)) return false;
  seen.add(type.name);
  if (isAbstractType(type)) return subgraphSchema.getPossibleTypes(type).some((one) => reaches(one, seen));
  if (!isObjectType(type)) return false;
  return Object.values(type.getFields()).some((field) => reaches(getNamedType(field.type), seen));
}

const clock = new ManualClock(Date.now());
const calls: SeenCall[] = [];
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', clock, onRequest: (call) => calls.push(call) });
});
afterAll(() => sandbox.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the cases', () => {
  it('are all root fields that reach batches or tasks, and the routes of files', () => {
    const roots = [
      subgraphSchema.getQueryType(),
      subgraphSchema.getMutationType(),
      subgraphSchema.getSubscriptionType(),
    ];
    const fields = roots.flatMap((root) =>
      Object.values(root?.getFields() ?? {})
        .filter((field) => reaches(getNamedType(field.type)))
        .map(({ name }) => `${root?.name}.${name}`),
    );
    for (const text of Object.values(CASES))
      expect(validate(subgraphSchema, parse(text({ batch: 'b', task: 't' })))).toEqual([]);
    expect(fields.sort()).toEqual(Object.keys(CASES).sort());
    const folder = new URL('../../src/http/routes/', import.meta.url);
    const serving = readdirSync(folder).filter((file) =>
      // A sentence on the store speaks of "submissions with an idempotency key".
      /\b(batches|folds|loadTask|loadBatch|ledger|submissions)\b(?! with)/.test(
        readFileSync(new URL(file, folder), 'utf8'),
      ),
    );
    expect(serving).toEqual(ROUTES);
  });
});

describe.each([
  [
    'share the key of the gateway',
    {
      UPSTREAM_API_KEY: 'upstream',
      GATEWAY_API_KEYS: 'owner owners-key-of-this-test, other others-key-of-this-test',
    },
  ],
  ['pass their own tokens on', {}],
])('two callers that %s', (_, env: Record<string, string>) => {
  const router = { 'x-federation-token': 'the token of the router' };
  let gateway: Gateway;
  let served: Served;
  let theirs: Ids;
  const nobodys: Ids = { batch: 'no-such-batch', task: 'no-such-batch-00000' };
  const shared = Object.keys(env).length > 0;

  beforeAll(async () => {
    gateway = openGateway(
      sandbox.url,
      { ...env, FEDERATION_TOKEN: router['x-federation-token'] },
      { first: 50, slowest: 100 },
    );
    served = await serve(gateway);
    const batch = await submit(gateway, 2, bearer('owners-key-of-this-test'));
    const { data } = await ask(
      gateway,
      `{ batch(batchId: "${batch}") { tasks { nodes { taskId } } } }`,
      {},
      bearer('owners-key-of-this-test'),
    );
    theirs = { batch, task: String(at(listAt(data, 'batch.tasks.nodes')[0], 'taskId')) };
    clock.advance(120_000);
  });
  afterAll(async () => {
    await served.close();
    await gateway.close();
  });

  /** The first answer over each transport, ids and request ids taken out. */
  async function answers(token: string, ids: Ids, text: string): Promise<Record<string, string>> {
    const told = (answer: unknown) =>
      JSON.stringify(answer)
        .replaceAll(ids.task, 'TASK')
        .replaceAll(ids.batch, 'BATCH')
        .replace(/"locations":\[[^\]]*\],?/g, '')
        .replace(/"(requestId|upstreamRequestId)":"[^"]*"/g, '');
    const stream = await subscribe(fetch, text, {}, { url: served.url, headers: bearer(token) });
    const body = stream.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const overStream = body ? (await answersOf(stream).next()).value : await stream.json();
    const client = createClient({
      url: served.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { token },
    });
    const overSocket = await client
      .iterate({ query: text })
      .next()
      .then(
        ({ value }): unknown => value,
        (errors: unknown) => ({ errors }),
      );
    await client.dispose();
    const plain = text.startsWith('subscription')
      ? null
      : await ask(gateway, text, {}, { ...bearer(token), ...router });
    return { stream: told(overStream), socket: told(overSocket), http: told(plain) };
  }

  it.each(Object.keys(CASES))('%s tells another caller nothing', async (name) => {
    const text = CASES[name] ?? (() => '');
    calls.length = 0;
    const seen = await answers('others-key-of-this-test', theirs, text(theirs));
    const asked = calls.filter(({ operation }) =>
      ['list', 'status', 'cancel', 'submit', 'download'].includes(operation),
    );
    // Where the key is shared the upstream would answer: it is not even asked.
    if (shared) expect(asked.map(({ operation }) => operation)).toEqual([]);
    expect(seen).toEqual(await answers('others-key-of-this-test', nobodys, text(nobodys)));
    expect(JSON.stringify(seen)).not.toContain('peptide');
    expect(JSON.stringify(seen)).not.toContain('"Cancelled"');
  });

  it('the owner is told of it, before and after the other has asked', async () => {
    for (const name of [
      'Query.batch',
      'Query.task',
      'Query.myBatches',
      'Query.node',
      'Subscription.batchProgress',
    ]) {
      const seen = await answers('owners-key-of-this-test', theirs, CASES[name]?.(theirs) ?? '');
      expect(seen.stream, name).toContain('peptide');
      expect(seen.socket, name).toContain('peptide');
    }
  });

  it('the files of a task and of a batch are their owner’s, and kept by no shared cache', async () => {
    const origin = new URL(served.url).origin;
    const files = {
      'tasks/{task}/result.json': 200,
      'tasks/{task}/structure.cif': 200,
      'tasks/{task}/structure.pdb': 200,
      'tasks/{task}/confidences.json': 200,
      'tasks/{task}/summary_confidences.json': 200,
      'tasks/{task}/pae.json': 404,
      'tasks/{task}/embeddings.npz': 404,
      'batches/{batch}/results.zip': 200,
      'batches/{batch}/scores.tsv': 200,
    };
    for (const [file, status] of Object.entries(files)) {
      const get = ({ task, batch }: Ids, token: string) =>
        fetch(`${origin}/${file.replace('{task}', task).replace('{batch}', batch)}`, {
          headers: bearer(token),
        });
      const own = await get(theirs, 'owners-key-of-this-test');
      expect([file, own.status]).toEqual([file, status]);
      expect(own.headers.get('cache-control')).toMatch(/private|no-store/);
      await own.arrayBuffer();
      const other = await get(theirs, 'others-key-of-this-test');
      const none = await get(nobodys, 'others-key-of-this-test');
      expect([other.status, await other.text()]).toEqual([none.status, await none.text()]);
      expect(other.status).toBe(404);
    }
  });
});
