// Each client file that is shipped, given queries as strangers paste them: that of the README, one
// without the key of its object, and every example. What a client returns is what the gateway
// answers to the same document.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type ASTNode, Kind, OperationTypeNode, parse, print, visit } from 'graphql';
import relay, { type ConcreteRequest } from 'relay-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { createFoldAtlasClient as createApollo } from '../../../examples/clients/apollo.ts';
import { createFoldAtlasEnvironment } from '../../../examples/clients/relay.ts';
import { createFoldAtlasClient as createUrql } from '../../../examples/clients/urql.ts';
import relayConfig from '../../../examples/relay.config.json' with { type: 'json' };
import { readExamples } from '../../../src/http/pages/examples.ts';
import { createExampleIds } from '../../example-ids.ts';
import { ROOT } from '../../root.ts';
import { at } from '../../support.ts';
import { INSULIN, openPlace, type Place, TOKEN } from './place.ts';

const README = /-d '\{"query":\s*("(?:\\.|[^"\\])*")\}'/.exec(readFileSync(`${ROOT}README.md`, 'utf8'))?.[1];

/** The documents by their names, in the order in which they are run. */
const DOCUMENTS: readonly (readonly [name: string, query: string])[] = [
  ['the query of the README', JSON.parse(README ?? '""')],
  ['a query without the key of its object', `{ protein(hash: "${INSULIN}") { name } }`],
  ...readExamples().map(({ name, query }) => [name, query] as const),
];

type Variables = Record<string, string>;
interface PastedInto {
  /** Runs a query or a mutation. @throws when the client reports an error */
  run(name: string, query: string, variables: Variables): Promise<unknown>;
  /** All events of a subscription. */
  follow(name: string, query: string, variables: Variables): Promise<unknown[]>;
  close(): void;
}

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());

const operationIn = (query: string): OperationTypeNode => {
  const operation = parse(query).definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`no operation in ${query}`);
  return operation.operation;
};

/** Collects what a subscription brings. */
const collect = (
  start: (next: (data: unknown) => void, fail: (error: unknown) => void, complete: () => void) => void,
): Promise<unknown[]> =>
  new Promise((resolve, reject) => {
    const events: unknown[] = [];
    start(
      (data) => events.push(data),
      reject,
      () => resolve(events),
    );
  });

function pasteIntoApollo(): PastedInto {
  const client = createApollo({ url: place.url, headers: TOKEN, webSocketImpl: WebSocket });
  return {
    async run(_, query, variables) {
      if (operationIn(query) === OperationTypeNode.MUTATION)
        return (await client.mutate({ mutation: parse(query), variables })).data;
      return (await client.query({ query: parse(query), variables })).data;
    },
    follow: (_, query, variables) =>
      collect((next, fail, complete) =>
        client.subscribe({ query: parse(query), variables }).subscribe({
          next: ({ data, error }) => (error === undefined ? next(data) : fail(error)),
          error: fail,
          complete,
        }),
      ),
    close: () => client.stop(),
  };
}

function pasteIntoUrql(): PastedInto {
  const client = createUrql({ url: place.url, headers: TOKEN });
  return {
    async run(_, query, variables) {
      const isMutation = operationIn(query) === OperationTypeNode.MUTATION;
      const { data, error } = await (isMutation
        ? client.mutation(query, variables)
        : client.query(query, variables)
      ).toPromise();
      if (error !== undefined) throw error;
      return data;
    },
    follow: (_, query, variables) =>
      collect((next, fail, complete) => {
        const watching = client.subscription(query, variables).subscribe(({ data, error }) => {
          if (error !== undefined) return fail(error);
          next(data);
          if (at(data, 'batchProgress.final') !== true) return;
          queueMicrotask(() => watching.unsubscribe());
          complete();
        });
      }),
    close: () => undefined,
  };
}

const relayFolder = mkdtempSync(join(tmpdir(), 'foldatlas-pasted-'));
afterAll(() => rmSync(relayFolder, { recursive: true, force: true }));

const moduleName = (name: string): string => `pasted${DOCUMENTS.findIndex(([known]) => known === name)}`;
/** Relay's compiler wants each operation named after its module. */
function relayName(name: string, query: string): string {
  const kind = operationIn(query);
  return `${moduleName(name)}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}
const named = (name: string, query: string): string =>
  print(
    visit(parse(query), {
      OperationDefinition: (node) => ({ ...node, name: { kind: Kind.NAME, value: relayName(name, query) } }),
      // Fragments, too, carry the name of their module.
      FragmentDefinition: (node) => ({
        ...node,
        name: { kind: Kind.NAME, value: node.name.value.replace(/^[A-Za-z]+/, moduleName(name)) },
      }),
      FragmentSpread: (node) => ({
        ...node,
        name: { kind: Kind.NAME, value: node.name.value.replace(/^[A-Za-z]+/, moduleName(name)) },
      }),
    }),
  );

/** Compiles all documents as examples/relay.config.json says. */
async function compileForRelay(): Promise<void> {
  mkdirSync(join(relayFolder, 'src'));
  copyFileSync(`${ROOT}schema.graphql`, join(relayFolder, 'schema.graphql'));
  const { customScalarTypes: _, requireCustomScalarTypes: __, ...config } = relayConfig;
  writeFileSync(join(relayFolder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(relayFolder, 'relay.config.json'),
    JSON.stringify({ ...config, language: 'javascript' }),
  );
  for (const [name, query] of DOCUMENTS)
    writeFileSync(
      join(relayFolder, `src/${moduleName(name)}.js`),
      `import { graphql } from 'relay-runtime';\nexport const operation = graphql\`${named(name, query)}\`;\n`,
    );
  const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js');
  await promisify(execFile)(process.execPath, [compiler, 'relay.config.json'], { cwd: relayFolder });
}

async function pasteIntoRelay(): Promise<PastedInto> {
  await compileForRelay();
  const environment = createFoldAtlasEnvironment({ url: place.url, headers: TOKEN });
  const artifact = async (name: string, query: string): Promise<ConcreteRequest> => {
    const file = join(relayFolder, `src/__generated__/${relayName(name, query)}.graphql.js`);
    return at(await import(pathToFileURL(file).href), 'default') as ConcreteRequest;
  };
  return {
    async run(name, query, variables) {
      const operation = await artifact(name, query);
      if (operationIn(query) === OperationTypeNode.QUERY)
        return relay.fetchQuery(environment, operation, variables).toPromise();
      return new Promise((resolve, reject) =>
        relay.commitMutation(environment, {
          mutation: operation,
          variables,
          onCompleted: resolve,
          onError: reject,
        }),
      );
    },
    async follow(name, query, variables) {
      const subscription = await artifact(name, query);
      return collect((onNext, onError, onCompleted) =>
        relay.requestSubscription(environment, { subscription, variables, onNext, onError, onCompleted }),
      );
    },
    close: () => undefined,
  };
}

/** An answer without what clients add to it. */
const withoutTypeNames = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, child: unknown) => (key === '__typename' ? undefined : child)));

/** The gateway's answer to a plain POST. */
async function answerTo(query: string): Promise<unknown> {
  const response = await fetch(place.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...TOKEN },
    body: JSON.stringify({ query }),
  });
  const answer: unknown = await response.json();
  expect(at(answer, 'errors')).toBeUndefined();
  return withoutTypeNames(at(answer, 'data'));
}

describe.each([
  ['Apollo Client', pasteIntoApollo],
  ['urql', pasteIntoUrql],
  ['Relay', pasteIntoRelay],
])('%s', (client, open) => {
  const ids = createExampleIds();
  let pasted: PastedInto | undefined;
  beforeAll(async () => {
    pasted = await open();
  });
  afterAll(() => pasted?.close());

  it.each(DOCUMENTS)('runs %s', async (name, query) => {
    if (pasted === undefined) throw new Error('The client did not open.');
    const variables = ids.variablesFor(query);
    const kind = operationIn(query);
    if (kind === OperationTypeNode.SUBSCRIPTION) {
      const events = await pasted.follow(name, query, variables);
      expect(at(events.at(-1), 'batchProgress.final')).toBe(true);
      return;
    }
    const data = await pasted.run(name, query, variables);
    ids.remember(data);
    for (const value of Object.values(Object(data))) expect(value).not.toBeNull();
    // Batches go on, and Relay shows a fragment only to the component that reads it.
    const isSteady = kind === OperationTypeNode.QUERY && Object.keys(variables).length === 0;
    if (isSteady && !(client === 'Relay' && query.includes('...')))
      expect(withoutTypeNames(data)).toEqual(await answerTo(query));
  });
});

const KEYS = new Set(['hash', 'representativeHash', 'index', 'batchId', 'taskId', 'accession', 'lookupId']);

/** A document whose objects do not select their keys. */
const withoutKeys = (query: string): string =>
  print(
    visit<ASTNode>(parse(query), {
      Field: (field) => (KEYS.has(field.name.value) && field.selectionSet === undefined ? null : undefined),
      SelectionSet: {
        leave: (set) =>
          set.selections.length > 0
            ? undefined
            : { ...set, selections: [{ kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } }] },
      },
    }),
  );

it('Apollo Client returns what the gateway answers, with keys and without them, in every order', async () => {
  const steady = DOCUMENTS.map(([, query]) => query).filter(
    (query) => operationIn(query) === OperationTypeNode.QUERY && !/batch|task|\$\w+: ID!/i.test(query),
  );
  expect(steady.length).toBeGreaterThan(7);
  for (const order of [
    [0, 1, 0],
    [1, 0, 1],
  ]) {
    const pasted = pasteIntoApollo();
    for (const step of order)
      for (const query of steady) {
        const document = step === 0 ? query : withoutKeys(query);
        expect(withoutTypeNames(await pasted.run('', document, {})), document).toEqual(
          await answerTo(document),
        );
      }
    pasted.close();
  }
});
