// Mistakes of agents in all tools and requests of /mcp: each is told in a short sentence
// that names the place, never by a list of a library's own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOOL_INPUTS } from '../../src/http/mcp/server.ts';
import { isFields } from '../../src/upstream/json/is-fields.ts';
import { at, openWorld, type World } from '../support.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const INVALID_PARAMS = -32_602;
const MAX_CHARACTERS = 700;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function send(method: string, params: unknown): Promise<unknown> {
  const response = await world.gateway.fetch(
    new Request('http://gateway.test/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }),
  );
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.+)$/m.exec(text)?.[1] ?? 'null'));
}
const call = async (name: string, args: unknown) => send('tools/call', { name, arguments: args });
const readToolText = (answer: unknown): string => String(at(answer, 'result.content.0.text'));

/** The text of a refusal, of a request or of the call of a tool. */
async function refusal(answer: Promise<unknown>): Promise<string> {
  const message = at(await answer, 'error.message');
  const text = message === undefined ? readToolText(await answer) : String(message);
  expect(message !== undefined || at(await answer, 'result.isError'), text).toBe(true);
  expect(text.length).toBeLessThan(MAX_CHARACTERS);
  expect(text).not.toMatch(/^\[|"code"|"path"|\n {2}/);
  return text;
}

describe('a request without what it needs', () => {
  it.each([
    ['resources/read', {}, /params\.uri: it is missing/],
    ['resources/read', { uri: 5 }, /params\.uri: .*expected string/],
    ['tools/call', {}, /params\.name: it is missing/],
    ['tools/call', { name: 7 }, /params\.name: .*expected string/],
    ['tools/call', { name: 'graphql', arguments: 'text' }, /params\.arguments: /],
    [
      'tools/call',
      { name: 'fold_protein', arguments: {} },
      /no tool "fold_protein".*check_fold((?!submit_fold).)*$/,
    ],
    ['tools/call', { name: 'toString', arguments: {} }, /no tool "toString"/],
    ['tools/list', { cursor: 8 }, /params\.cursor: /],
    ['resources/list', { cursor: 8 }, /params\.cursor: /],
    ['resources/templates/list', { cursor: 8 }, /params\.cursor: /],
    ['initialize', {}, /params\.protocolVersion: it is missing/],
  ])('is refused by its place: %s %j', async (method, params, text) => {
    const answer = send(method, params);
    expect(await refusal(answer)).toMatch(text);
    expect(await answer).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code: INVALID_PARAMS } });
  });
});

describe('the arguments of every tool', () => {
  const TOOLS = Object.entries(TOOL_INPUTS);

  /** The JSON Schema of a tool's arguments. */
  const jsonSchema = (name: string): unknown =>
    TOOL_INPUTS[name]?.['~standard'].jsonSchema.input({ target: 'draft-2020-12' });

  it.each(TOOLS)('are refused by their names: %s', async (name) => {
    const properties = Object.keys(Object(at(jsonSchema(name), 'properties')));
    expect(properties.length).toBeGreaterThan(0);
    if (name === 'submit_fold') return;
    for (const property of properties)
      expect(await refusal(call(name, { [property]: [[]] })), property).toContain(property);
    expect(await refusal(call(name, { molecule: 'x' }))).toContain('molecule');
  });

  it('have the same name and type in all tools where they mean the same', () => {
    const seen = new Map<string, { readonly tool: string; readonly type: unknown }>();
    for (const [tool] of TOOLS)
      for (const [name, schema] of Object.entries(Object(at(jsonSchema(tool), 'properties')))) {
        const type = at(schema, 'type') ?? at(schema, 'anyOf.0.type');
        const before = seen.get(name);
        if (before !== undefined) expect([name, tool, type]).toEqual([name, tool, before.type]);
        seen.set(name, { tool, type });
      }
    // A protein is named by `id`, several by `ids`.
    expect([...seen.keys()]).not.toContain('hash');
    expect([...seen.keys()]).not.toContain('accession');
  });

  it.each(TOOLS)('have a maximum for each list and each text: %s', (name) => {
    const open: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      if (Array.isArray(schema)) for (const [i, one] of schema.entries()) walk(one, `${path}.${i}`);
      if (!isFields(schema)) return;
      const { type, maxItems, maxLength, enum: values } = schema;
      if (type === 'array' && maxItems === undefined) open.push(path);
      if (type === 'string' && maxLength === undefined && values === undefined) open.push(path);
      for (const [member, value] of Object.entries(schema))
        if (!['propertyNames', 'required', 'enum'].includes(member)) walk(value, `${path}.${member}`);
    };
    walk(jsonSchema(name), name);
    expect(open).toEqual([]);
  });
});

describe('the variables of `graphql`', () => {
  const query = 'query ($hash: ProteinHash!) { protein(hash: $hash) { length } }';
  const ask = (variables: unknown) => call('graphql', { query, variables });

  it('may be JSON in a text, as many agents send them', async () => {
    const plain = readToolText(await ask({ hash: HASH }));
    expect(plain).toContain('"length":110');
    expect(readToolText(await ask(JSON.stringify({ hash: HASH })))).toBe(plain);
    expect(
      readToolText(await call('graphql', { query: '{ limits { maxTasks } }', variables: '' })),
    ).toContain('2000');
  });

  it.each([
    ['a list', [HASH]],
    ['a number', 5],
    ['a list in a text', JSON.stringify([HASH])],
    ['a text that is no JSON', `hash: ${HASH}`],
    ['JSON that is too deep', '['.repeat(500)],
  ])('are refused by their name where they are %s', async (_, variables) => {
    expect(await refusal(ask(variables))).toMatch(/variables: .*JSON object/);
  });
});

it('a cluster is found by whatever finds a protein', async () => {
  const byHash = await call('get_cluster', { id: HASH, first: 2 });
  expect(at(byHash, 'result.structuredContent.name')).toBe('Insulin');
  const { data } = await world.query(`{ protein(hash: "${HASH}") { sequence } }`);
  for (const id of ['P01308', 'INS_HUMAN', HASH.toUpperCase(), String(at(data, 'protein.sequence'))])
    expect(await call('get_cluster', { id, first: 2 }), id).toEqual(byHash);
  expect(await refusal(call('get_cluster', { id: 'insulin?' }))).toMatch(/^`id` \(8 characters\)/);
  expect(await refusal(call('get_cluster', { id: 'c'.repeat(32) }))).toMatch(/no cluster/);
});

it.each(['', '   '])('a search for no words is refused: %j', async (search) => {
  expect(await refusal(call('search_features', { search }))).toMatch(/search: it is empty/);
});

it('a tool that is switched off says by which setting', async () => {
  expect(await refusal(call('submit_fold', { items: [] }))).toMatch(/submit_fold.*MCP_MUTATIONS=1/);
  const mutation = 'mutation { cancelBatch(batchId: "x") { __typename } }';
  expect(await refusal(call('graphql', { query: mutation }))).toContain('MCP_MUTATIONS=1');
});
