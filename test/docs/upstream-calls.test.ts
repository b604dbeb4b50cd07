// How many calls of the service each example query costs, in both dialects of the sandbox:
// docs/upstream-calls.md says what is counted here. `UPDATE_DOCS=1 npx vitest run
// test/docs/upstream-calls.test.ts` writes the page anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { type OperationDefinitionNode, parse } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { DIALECTS, type Dialect } from '../../sandbox/src/wire/conventions.ts';
import { readExamples } from '../../src/http/pages/examples.ts';
import { at, openWorld, type SeenCall, type World } from '../support.ts';

const PAGE = new URL('../../docs/upstream-calls.md', import.meta.url);
const HEADERS = { authorization: 'Bearer examples' };

interface Cost {
  readonly name: string;
  readonly calls: readonly SeenCall[];
}

const findOperation = (query: string): OperationDefinitionNode | undefined =>
  parse(query).definitions.find((definition) => definition.kind === 'OperationDefinition');

async function waitUntil(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isDone()); tries++) {
    if (tries === 1000) throw new Error('what an example set going does not end');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The ids of an answer that later examples ask for. */
function remember(value: unknown, ids: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (/^(batchId|taskId|lookupId)$/.test(key) && typeof child === 'string') ids.set(key, child);
    else remember(child, ids);
  }
}

/**
 * Waits for what a mutation has set going, so that its calls are not counted as those of the next
 * query.
 */
async function settle(world: World, name: string, ids: ReadonlyMap<string, string>): Promise<void> {
  const ask = async (query: string, id: string | undefined, path: string) =>
    at((await world.query(query, { id }, HEADERS)).data, path);
  if (name === 'SubmitFold')
    await waitUntil(
      async () =>
        (await ask(
          'query($id: ID!) { batch(batchId: $id) { status } }',
          ids.get('batchId'),
          'batch.status',
        )) === 'DONE',
    );
}

/** Runs every example query and mutation in the order of their files. */
async function costsIn(dialect: Dialect): Promise<Cost[]> {
  const world = await openWorld({}, { dialect, speed: 1000 });
  const ids = new Map<string, string>();
  const costs: Cost[] = [];
  try {
    for (const { query } of readExamples()) {
      const operation = findOperation(query);
      if (operation === undefined || operation.operation === 'subscription') continue;
      const variables = Object.fromEntries(
        (operation.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
          const { value } = variable.name;
          return type.kind === 'NonNullType' && defaultValue === undefined ? [[value, ids.get(value)]] : [];
        }),
      );
      const name = operation.name?.value ?? '';
      world.forget();
      const { data, errors } = await world.query(query, variables, HEADERS);
      expect(errors, `${name} in ${dialect}`).toBeUndefined();
      const counted = [...world.calls];
      remember(data, ids);
      await settle(world, name, ids);
      costs.push({ name, calls: counted });
    }
  } finally {
    await world.close();
  }
  return costs;
}

/** Such as `1 bulk, 3 protein`. */
function told(calls: readonly SeenCall[]): string {
  const counts = new Map<string, number>();
  for (const { operation } of calls) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  const parts = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

describe('the calls of the service', () => {
  const costs = new Map<Dialect, Cost[]>();
  beforeAll(async () => {
    for (const dialect of DIALECTS) costs.set(dialect, await costsIn(dialect));
  });
  const rich = (): Cost[] => costs.get('rich') ?? [];
  const plain = (name: string): readonly SeenCall[] =>
    costs.get('plain')?.find((cost) => cost.name === name)?.calls ?? [];

  it('are for every example those of docs/upstream-calls.md, in both dialects', () => {
    const rows = rich().map(({ name, calls }) => `| ${name} | ${told(calls)} | ${told(plain(name))} |`);
    expect(rows.length).toBeGreaterThan(10);
    const text = `# Calls of the service

What each [example](../examples) costs in calls of the service: run in the order of their files by one gateway that keeps no records between requests, on a sandbox that speaks either
[dialect](sandbox.md#dialects). A service that sends only what the contract promises (\`plain\`) costs at most one call more for each protein,
beside the bulk call. It also costs one for each cluster whose details the archive leaves out, and one for each protein without a cluster,
which only that call proves. The catalogue, \`features\`, is read once by a gateway.
One protein is read from its own record, \`protein\`. Where a query reads only its hash, sequence, length, accession and source,
it is read from a \`bulk\` answer of a few hundred bytes.
A gateway that caches records (\`CACHE_RECORDS_SECONDS\`) downloads the record of a protein once for all queries about it, whatever each asks for. It downloads it again for more than ten top features, or more than it had before.
Subscriptions ask in the background and are left out. A test counts; it fails when this page says otherwise.

| Example | \`rich\` | \`plain\` |
|---|---|---|
${rows.join('\n')}
`;
    if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, text);
    expect(readFileSync(PAGE, 'utf8')).toBe(text);
  });

  it('are at most one record more for each protein and each cluster in plain, beside the bulk call', () => {
    const isRecord = ({ operation }: SeenCall) => operation === 'protein' || operation === 'cluster';
    // The catalogue of features is read once by a gateway, whichever query needs it first.
    const isOther = (call: SeenCall) => !isRecord(call) && call.operation !== 'features';
    for (const { name, calls } of rich()) {
      const paths = plain(name)
        .filter(isRecord)
        .map(({ path }) => path.split('?')[0]);
      expect(new Set(paths).size, name).toBe(paths.length);
      expect(plain(name).filter(isOther).length, name).toBeLessThanOrEqual(calls.filter(isOther).length);
    }
  });
});
