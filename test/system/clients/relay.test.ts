// Relay: operations compiled by its compiler as examples/relay.config.json says, run by its runtime
// over fetch and graphql-sse; its store finds objects by their Relay ids.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import relay, { type ConcreteRequest, type OperationType } from 'relay-runtime';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createFoldAtlasEnvironment } from '../../../examples/clients/relay.ts';
import relayConfig from '../../../examples/relay.config.json' with { type: 'json' };
import { at, listAt } from '../../support.ts';
import { FOLD, INSULIN, openPlace, type Place, SUBMIT, TOKEN, WATCH } from './place.ts';

const { commitMutation, fetchQuery, requestSubscription } = relay;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const require = createRequire(import.meta.url);

/** One operation for each use; the module must be named as the operation begins. */
const OPERATIONS: Readonly<Record<string, string>> = {
  cardQuery: `query cardQuery($hash: ProteinHash!) {
    protein(hash: $hash) { name cluster { size members(first: 3) { edges { cursor node { hash length } } pageInfo { hasNextPage endCursor } } } } }`,
  againQuery: 'query againQuery($id: ID!) { node(id: $id) { __typename ... on Protein { name length } } }',
  partQuery: 'query partQuery($id: ID!) { limits { maxItems } batch(batchId: $id) { batchId } }',
  caughtQuery:
    'query caughtQuery($id: ID!) { limits { maxItems } batch(batchId: $id) @catch(to: RESULT) { batchId } }',
  thrownQuery:
    'query thrownQuery($id: ID!) @throwOnFieldError { limits { maxItems } batch(batchId: $id) { batchId } }',
  submitMutation: SUBMIT.replace('mutation Submit', 'mutation submitMutation'),
  watchSubscription: WATCH.replace('subscription Watch', 'subscription watchSubscription'),
};

let folder = '';
let place: Place;
const compiled = new Map<string, ConcreteRequest>();
beforeAll(async () => {
  place = await openPlace();
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-relay-'));
  mkdirSync(join(folder, 'src'));
  copyFileSync(join(ROOT, 'schema.graphql'), join(folder, 'schema.graphql'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  for (const [name, text] of Object.entries(OPERATIONS)) {
    const module = name.replace(/(Query|Mutation|Subscription)$/, '');
    const source = `import { graphql } from 'relay-runtime';\nexport const operation = graphql\`${text}\`;\n`;
    writeFileSync(join(folder, `src/${module}.js`), source);
  }
  writeFileSync(
    join(folder, 'relay.config.json'),
    JSON.stringify({
      ...relayConfig,
      language: 'javascript',
      customScalarTypes: undefined,
      requireCustomScalarTypes: undefined,
    }),
  );
  const cli = require.resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [cli, 'relay.config.json'], { cwd: folder });
  for (const name of Object.keys(OPERATIONS)) {
    const made: unknown = await import(
      pathToFileURL(join(folder, `src/__generated__/${name}.graphql.js`)).href
    );
    compiled.set(name, at(made, 'default') as ConcreteRequest);
  }
});
afterAll(async () => {
  await place.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => place.world.forget());

const artifact = (name: string): ConcreteRequest => {
  const found = compiled.get(name);
  if (found === undefined) throw new Error(`nothing compiled is called ${name}`);
  return found;
};

const openEnvironment = (headers: Record<string, string> = TOKEN) =>
  createFoldAtlasEnvironment({ url: place.url, headers });

const query = (environment: ReturnType<typeof openEnvironment>, name: string, variables: object) =>
  fetchQuery<OperationType>(environment, artifact(name), variables).toPromise();

it('walks a connection, keeps records under their Relay ids, and finds them by node(id:)', async () => {
  const environment = openEnvironment();
  const card = await query(environment, 'cardQuery', { hash: INSULIN });
  expect(at(card, 'protein.name')).toBe('Insulin');
  expect(listAt(card, 'protein.cluster.members.edges')).toHaveLength(3);
  expect(at(card, 'protein.cluster.members.pageInfo.hasNextPage')).toBe(true);
  const id = Buffer.from(`Protein:${INSULIN}`).toString('base64');
  expect(environment.getStore().getSource().get(id)).toMatchObject({
    __typename: 'Protein',
    name: 'Insulin',
  });
  const again = await query(environment, 'againQuery', { id });
  expect(again).toEqual({ node: { __typename: 'Protein', name: 'Insulin', length: 110 } });
});

it('submits, and an event of the subscription updates the record of the batch', async () => {
  const environment = openEnvironment();
  const submitted = await new Promise<unknown>((resolve, reject) =>
    commitMutation<
      OperationType & {
        readonly response: Record<string, unknown>;
        readonly rawResponse?: Record<string, unknown>;
      }
    >(environment, {
      mutation: artifact('submitMutation'),
      variables: FOLD,
      onCompleted: resolve,
      onError: reject,
    }),
  );
  expect(at(submitted, 'submitFold.__typename')).toBe('FoldSubmitted');
  const id = String(at(submitted, 'submitFold.batch.id'));
  const batchId = at(submitted, 'submitFold.batch.batchId');
  let last: unknown;
  await new Promise<void>((resolve, reject) =>
    requestSubscription(environment, {
      subscription: artifact('watchSubscription'),
      variables: { id: batchId },
      onNext: (event) => {
        last = event;
      },
      onCompleted: resolve,
      onError: reject,
    }),
  );
  expect(at(last, 'batchProgress')).toMatchObject({ final: true, batch: { id, counts: { done: 1 } } });
  expect(environment.getStore().getSource().get(id)).toMatchObject({ batchId });
});

it('rejects when a query was refused', async () => {
  const environment = openEnvironment();
  const refused = query(environment, 'cardQuery', { hash: 'no hash' });
  await expect(refused).rejects.toThrow(/hash/i);
  const error: unknown = await refused.catch((reason: unknown) => reason);
  expect(at(error, 'source.errors.0.extensions.code')).toBe('BAD_USER_INPUT');
  expect(place.world.calls).toEqual([]);
});

it('hides the error of a part, unless the query catches it or throws', async () => {
  const environment = openEnvironment({});
  const variables = { id: '00000000-0000-4000-8000-000000000000' };
  expect(await query(environment, 'partQuery', variables)).toEqual({
    limits: { maxItems: 2000 },
    batch: null,
  });
  expect(await query(environment, 'caughtQuery', variables)).toMatchObject({
    limits: { maxItems: 2000 },
    batch: { ok: false, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
  });
  await expect(query(environment, 'thrownQuery', variables)).rejects.toThrow(/Unexpected response payload/);
});
