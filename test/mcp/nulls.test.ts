// Null in a message of an agent: the same as left out, for every tool and every optional argument
// over HTTP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutNulls } from '../../src/http/mcp/without-nulls.ts';
import { type Fields, isFields } from '../../src/upstream/json/is-fields.ts';
import { type Bench, openBench } from '../folding/bench.ts';
import { at, listAt } from '../support.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  authorization: 'Bearer key-of-a-test',
};

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({ MCP_MUTATIONS: '1' });
});
afterAll(() => bench.close());

async function send(method: string, params?: unknown): Promise<unknown> {
  const response = await bench.gateway.fetch(
    new Request('http://gateway.test/mcp', {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }),
  );
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.+)$/m.exec(text)?.[1] ?? 'null'));
}
const call = async (name: string, args?: unknown) =>
  at(await send('tools/call', { name, arguments: args }), 'result');

/** Arguments without what is optional. */
const REQUIRED: Readonly<Record<string, Fields>> = {
  lookup_proteins: { ids: ['P01308'] },
  get_protein: { id: 'P01308' },
  get_cluster: { id: HASH },
  search_features: {},
  similar_proteins: { id: 'P01308' },
  check_fold: { items: [{ chains: [{ protein: { sequence: 'MKTAYIAK' } }] }] },
  batch_status: { batchId: 'no-such-batch' },
  fold_result: { taskId: 'no-such-task' },
  submit_fold: { items: [{ chains: [{ protein: { sequence: 'MKTAYIAK' } }] }], idempotencyKey: 'nulls' },
  graphql: { query: '{ limits { maxBulkHashes } }' },
};

/** The value with null for each member that the JSON Schema knows and the value does not have. */
function fill(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(at(schema, 'items'), item));
  if (!isFields(value)) return value;
  const known = Object.entries(Object(at(schema, 'properties')));
  return Object.fromEntries(
    known.map(([name, member]) => [name, name in value ? fill(member, value[name]) : null]),
  );
}

describe('null in the arguments of a tool', () => {
  it('is the same as left out, for all optional arguments of all tools', async () => {
    const tools = listAt(await send('tools/list'), 'result.tools');
    expect(tools.map((tool) => at(tool, 'name'))).toEqual(Object.keys(REQUIRED));
    for (const tool of tools) {
      const name = String(at(tool, 'name'));
      const args = REQUIRED[name];
      const filled = fill(at(tool, 'inputSchema'), args);
      if (!['lookup_proteins', 'graphql'].includes(name))
        expect(JSON.stringify(filled), name).toContain('null');
      // A batch is queued once, whichever of the two comes first.
      if (name === 'submit_fold') await call(name, args);
      expect(await call(name, filled), name).toEqual(await call(name, args));
    }
  });

  it('reaches deep into a fold', () => {
    const protein = { sequence: 'MK', ids: null, modifications: [{ position: 1, ccd: 'SEP', x: null }] };
    const chains = [{ protein, dna: null, ligand: { smiles: 'CCO', ccd: null } }];
    expect(withoutNulls({ params: { name: 'check_fold', arguments: { items: [{ chains }] } } })).toEqual({
      params: {
        name: 'check_fold',
        arguments: {
          items: [
            {
              chains: [
                {
                  protein: { sequence: 'MK', modifications: [{ position: 1, ccd: 'SEP' }] },
                  ligand: { smiles: 'CCO' },
                },
              ],
            },
          ],
        },
      },
    });
  });

  it('is told by its name where the argument is required, or in a list', async () => {
    const text = async (name: string, args: unknown) => JSON.stringify(await call(name, args));
    expect(await text('get_protein', { id: null })).toMatch(/id: it is missing: expected string/);
    expect(await text('lookup_proteins', { ids: null })).toMatch(/ids: it is missing: expected array/);
    expect(await text('lookup_proteins', null)).toMatch(/ids: it is missing/);
    expect(await text('graphql', { query: null, variables: null })).toMatch(/query: it is missing/);
    expect(await text('lookup_proteins', { ids: ['P01308', null] })).toMatch(
      /expected string, received null/,
    );
    expect(await text('similar_proteins', { id: null, sequence: null })).toMatch(/Give either/);
  });

  it('stays in the variables of GraphQL, where it stands against a default', async () => {
    const query = 'query ($first: Int = 3) { features(first: $first) { nodes { index } } }';
    const text = async (variables: unknown) => JSON.stringify(await call('graphql', { query, variables }));
    expect(await text(null)).toMatch(/index.*2/);
    expect(await text({ first: null })).not.toBe(await text({}));
  });
});

describe('null in a message of JSON-RPC', () => {
  it.each([
    ['tools/list', null],
    ['tools/list', { cursor: null }],
    ['tools/list', { _meta: null }],
    ['resources/list', null],
    ['resources/templates/list', null],
    ['ping', null],
    ['tools/call', { name: 'search_features', arguments: null, _meta: { progressToken: null } }],
  ])('is the same as left out: %s %j', async (method, params) => {
    const left = params !== null && 'name' in params ? { name: params.name } : undefined;
    const answer = await send(method, params);
    expect(answer).toHaveProperty('result');
    expect(answer).toEqual(await send(method, left));
  });
});
