// The tools of /mcp through the SDK's own client: what each answers and costs the service, its
// limits, and what it says when something is wrong.
import fc from 'fast-check';
import { getIntrospectionQuery, parse, printType, validate } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES, toJsonText, toResult } from '../../src/http/mcp/tool-result.ts';
import { DOCUMENTS } from '../../src/http/mcp/tools.ts';
import { plainLines } from '../../src/plain-text.ts';
import { schema, subgraphSchema } from '../../src/resolvers/schema.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein } from '../folding/bench.ts';
import { runs } from '../property-runs.ts';
import { at, listAt, openWorld, type World } from '../support.ts';
import { type Agent, connect, resultText } from './client.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

let bench: Bench;
let agent: Agent;
let reader: World;
beforeAll(async () => {
  bench = await openBench({ MCP_MUTATIONS: '1' });
  agent = await connect(bench, { authorization: 'Bearer key-of-a-test' });
  reader = await openWorld({ INTROSPECTION: '0' });
});
afterAll(async () => {
  await agent.close();
  await bench.close();
  await reader.close();
});
beforeEach(() => bench.forget());
afterEach(() => fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' }));

/** The content of a result that is no error, which is its text as well. */
async function content(name: string, args: Record<string, unknown>) {
  const result = await agent.call(name, args);
  expect(resultText(result)).not.toBe('');
  expect(result.isError ?? false, resultText(result)).toBe(false);
  expect(jsonBytes(result)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
  return result.structuredContent;
}

async function refusal(name: string, args: Record<string, unknown>, by = agent): Promise<string> {
  const result = await by.call(name, args);
  expect(result.isError).toBe(true);
  return resultText(result);
}

describe('the tools', () => {
  it('are few, short, annotated, and each says what null means', async () => {
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['lookup_proteins', 'get_protein', 'get_cluster', 'search_features', 'similar_proteins'],
      ...['check_fold', 'batch_status', 'fold_result', 'submit_fold', 'graphql'],
    ]);
    for (const { name, title, description, inputSchema, annotations } of tools) {
      expect(title).toBeTruthy();
      expect(description, name).toMatch(/\bnull means /);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      const isRead = !['submit_fold', 'graphql'].includes(name);
      expect(annotations, name).toMatchObject({ readOnlyHint: isRead, openWorldHint: true });
    }
    const submit = tools.find(({ name }) => name === 'submit_fold');
    expect(submit?.annotations).toMatchObject({ destructiveHint: false, idempotentHint: true });
    expect(submit?.inputSchema.required).toContain('idempotencyKey');
    // A model reads it with every task: 27 kB with the types of results, which say little more than
    // these do.
    expect(jsonBytes(tools)).toBeLessThan(12_000);
  });

  it('run documents of the schema, and nothing else', () => {
    for (const document of DOCUMENTS) expect(validate(schema, parse(document))).toEqual([]);
  });
});

describe('reading', () => {
  it('looks up identifiers of any kind as a table, in their order', async () => {
    const ids = ['P01308', 'INS_HUMAN', INSULIN, 'no identifier!', 'a'.repeat(32)];
    const found = await content('lookup_proteins', { ids });
    expect(listAt(found, 'columns').slice(0, 5)).toEqual([
      'requested',
      'status',
      'hash',
      'accession',
      'name',
    ]);
    const rows = listAt(found, 'rows').map((row) => ['0', '1', '2'].map((column) => at(row, column)));
    expect(rows).toEqual([
      ['P01308', 'FOUND', INSULIN],
      ['INS_HUMAN', 'FOUND', INSULIN],
      [INSULIN, 'FOUND', INSULIN],
      ['no identifier!', 'NOT_AN_IDENTIFIER', null],
      ['a'.repeat(32), 'NOT_IN_ATLAS', null],
    ]);
    expect(at(found, 'rows.0.4')).toBe('Insulin');
    expect(bench.counts()).toEqual({ uniprot: 2, bulk: 1, protein: 1 });
  });

  it('takes at most 50 identifiers', async () => {
    const fifty = Array.from({ length: 50 }, (_, i) => i.toString(16).padStart(32, '0'));
    expect(listAt(await content('lookup_proteins', { ids: fifty }), 'rows')).toHaveLength(50);
    bench.forget();
    expect(await refusal('lookup_proteins', { ids: [...fifty, INSULIN] })).toMatch(/ids.*50/s);
    expect(bench.calls).toEqual([]);
  });

  it('gets a protein, its sequence only when asked', async () => {
    const found = await content('get_protein', { id: 'INS_HUMAN' });
    expect(found).toMatchObject({
      status: 'FOUND',
      protein: { hash: INSULIN, name: 'Insulin', uniprotEntry: { accession: 'P01308' } },
    });
    expect(at(found, 'protein.structure.url')).toBe(`http://gateway.test/structures/${INSULIN}.pdb`);
    expect(listAt(found, 'protein.features')).toHaveLength(10);
    expect(found).not.toHaveProperty('protein.sequence');
    const whole = await content('get_protein', { id: 'INS_HUMAN', includeSequence: true });
    expect(at(whole, 'protein.sequence')).toMatch(/^MALWMRLLPLLALLALWGPDPAAA/);
    expect(await refusal('get_protein', { id: 'b'.repeat(32) })).toMatch(/does not have this protein/);
    for (const name of ['get_protein', 'similar_proteins']) {
      expect(await refusal(name, { id: 'insulin?' })).toMatch(/^`id` \(8 characters\)/);
      expect(await refusal(name, { id: 'P01308 R89C' })).not.toContain('ids');
    }
  });

  it('pages through the members of a cluster', async () => {
    const one = await content('get_cluster', { id: INSULIN, first: 2 });
    expect(one).toMatchObject({ name: 'Insulin', members: { pageInfo: { hasNextPage: true } } });
    const after = at(one, 'members.pageInfo.endCursor');
    const two = await content('get_cluster', { id: INSULIN, first: 2, after });
    const hashes = [one, two].flatMap((page) =>
      listAt(page, 'members.nodes').map((node) => at(node, 'hash')),
    );
    expect(new Set(hashes).size).toBe(4);
    expect(await refusal('get_cluster', { id: 'c'.repeat(32) })).toMatch(/no cluster.*lookup_proteins/s);
  });

  it('searches features in the catalogue alone', async () => {
    const found = await content('search_features', { search: 'helix face', first: 3 });
    expect(listAt(found, 'nodes')).toHaveLength(3);
    expect(await content('search_features', { indices: [17, 99_999] })).toMatchObject({
      nodes: [{ index: 17 }],
    });
    expect(Object.keys(bench.counts())).toEqual(['features']);
  });

  it('finds similar proteins of an identifier and of a sequence, also in dark clusters only', async () => {
    const found = await content('similar_proteins', { id: 'P01308', first: 3, maxPercentCharacterized: 0 });
    for (const hit of listAt(found, 'hits')) expect(at(hit, 'cluster.percentCharacterized')).toBe(0);
    expect(at(found, 'queryHash')).toBe(INSULIN);
    expect(await content('similar_proteins', { sequence: INSULIN_B, first: 1 })).toMatchObject({
      hits: [expect.anything()],
    });
    for (const args of [{}, { id: 'P01308', sequence: INSULIN_B }])
      expect(await refusal('similar_proteins', args)).toMatch(/either `id` or `sequence`/);
    expect(await refusal('similar_proteins', { id: 'd'.repeat(32) })).toMatch(/does not have/);
  });

  it('says what could not be loaded beside what was', async () => {
    await bench.fault({ operation: 'uniprot', status: 503, times: 20 });
    const found = await content('lookup_proteins', { ids: ['P69905', INSULIN] });
    expect(at(found, 'rows.0.1')).toBe('UNAVAILABLE');
    expect(at(found, 'rows.1.1')).toBe('FOUND');
    expect(await refusal('get_protein', { id: 'P69905' })).toMatch(/lookup.*can work/s);
  });

  it('shows the schema in parts', async () => {
    const read = async (uri: string) => {
      const { contents } = await agent.client.readResource({ uri });
      expect(jsonBytes(contents)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      return String(at(contents, '0.text'));
    };
    const { resources } = await agent.client.listResources();
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    expect([resources[0]?.uri, resourceTemplates[0]?.uriTemplate]).toEqual([
      'foldatlas://schema',
      'foldatlas://schema/{type}',
    ]);
    const names = (await read('foldatlas://schema')).split('\n').map((line) => line.split(':', 1)[0] ?? '');
    expect(names.length).toBeGreaterThan(100);
    for (const name of ['Query', 'SubmitFoldInput', 'IssueCode'])
      expect(await read(`foldatlas://schema/${name}`)).toContain(` ${name} {`);
    for (const name of names)
      expect(jsonBytes(printType(subgraphSchema.getType(name) ?? expect.fail(name)))).toBeLessThan(
        MAX_RESULT_BYTES,
      );
    const INVALID_PARAMS = -32_602;
    await expect(read('foldatlas://schema/Gene')).rejects.toMatchObject({
      code: INVALID_PARAMS,
      message: expect.stringMatching(/no type Gene; foldatlas:\/\/schema/),
    });
    for (const uri of [
      'foldatlas://schema/',
      'foldatlas://other',
      'foldatlas://schema/a/b',
      'file:///etc/passwd',
    ])
      await expect(read(uri)).rejects.toMatchObject({ code: INVALID_PARAMS });
    const closed = await connect({ gateway: reader.gateway });
    await expect(closed.client.readResource({ uri: 'foldatlas://schema' })).rejects.toMatchObject({
      code: INVALID_PARAMS,
      message: expect.stringMatching(/introspection/i),
    });
    await closed.close();
  });
});

describe('folding', () => {
  const fold = { items: [protein(INSULIN_A, 'a'), protein(INSULIN_B, 'b')], repeat: 2 };

  it('checks for free, submits once for a key, follows, ranks and reads', async () => {
    expect(await content('check_fold', fold)).toMatchObject({ ok: true, taskCount: 4, issues: [] });
    expect(bench.calls).toEqual([]);
    const submission = { ...fold, label: 'insulin', idempotencyKey: 'insulin-twice' };
    const sent = await content('submit_fold', submission);
    expect(sent).toMatchObject({ replayed: false, batch: { counts: { total: 4 } } });
    expect(await content('submit_fold', submission)).toMatchObject({
      replayed: true,
      batch: { batchId: at(sent, 'batch.batchId') },
    });
    expect(bench.counts()).toEqual({ submit: 1, list: 1 });
    const batchId = at(sent, 'batch.batchId');
    expect(await content('batch_status', { batchId })).toMatchObject({
      label: 'insulin',
      counts: { total: 4, queued: 4 },
    });
    await bench.pass(3_600_000);
    const ranked = await content('batch_status', { batchId, orderBy: 'PLDDT', first: 3 });
    const tasks = listAt(ranked, 'tasks.nodes');
    const scores = tasks.map((task) => Number(at(task, 'scores.meanPlddt')));
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(ranked).toMatchObject({
      status: 'DONE',
      tasks: { totalCount: 4, pageInfo: { hasNextPage: true } },
    });
    const taskId = at(tasks, '0.taskId');
    const result = await content('fold_result', { taskId, signedLinks: true });
    expect(result).toMatchObject({ status: 'DONE', result: { iptm: null, ptm: expect.any(Number) } });
    const signed = await bench.gateway.fetch(new Request(String(at(result, 'result.structure.signedUrl'))));
    expect(await signed.text()).toContain('_atom_site');
    expect(await content('fold_result', { taskId })).not.toHaveProperty('result.signedUrl');
    const dimer = {
      chains: [INSULIN_A, INSULIN_B].map((sequence) => ({ protein: { sequence } })),
      ...{ includePae: true, includePairChainsIptm: true },
    };
    const paired = await content('submit_fold', { items: [dimer], idempotencyKey: 'dimer' });
    await bench.pass(3_600_000);
    const best = await content('batch_status', { batchId: at(paired, 'batch.batchId'), orderBy: 'IPSAE' });
    const ipsae = at(best, 'tasks.nodes.0.scores.ipsae');
    const both = await content('fold_result', { taskId: at(best, 'tasks.nodes.0.taskId') });
    const pair = { ipsaeMax: ipsae, pDockQ: expect.any(Number) };
    expect(listAt(both, 'result.chainPairs')).toContainEqual(expect.objectContaining(pair));
    const stranger = await connect(bench, { authorization: 'Bearer another' });
    expect(await refusal('batch_status', { batchId }, stranger)).toMatch(/no such batch for this key/);
    expect(await refusal('fold_result', { taskId }, stranger)).toMatch(/no such task for this key/);
    await stranger.close();
  });

  it('sends nothing with mistakes, without a key, or with a used one', async () => {
    const wrong = { items: [protein('GIVEQ1')], idempotencyKey: 'wrong' };
    expect(await refusal('submit_fold', wrong)).toMatch(/Nothing was sent.*items\.0.*sequence: "1"/s);
    expect(await refusal('submit_fold', { items: [protein(INSULIN_A)] })).toMatch(/idempotencyKey/);
    expect(await refusal('submit_fold', { items: [], idempotencyKey: 'empty' })).toMatch(/items/);
    expect(bench.calls).toEqual([]);
    const key = { idempotencyKey: 'used' };
    await content('submit_fold', { items: [protein(INSULIN_A)], ...key });
    expect(await refusal('submit_fold', { items: [protein(INSULIN_B)], ...key })).toMatch(/another input/);
    expect(bench.counts()).toMatchObject({ submit: 1 });
  });

  it('says after how long a refused submission may be sent again', async () => {
    await bench.fault({ operation: 'submit', status: 429, headers: { 'retry-after': '7' } });
    const args = { items: [protein(INSULIN_A)], idempotencyKey: 'too many' };
    expect(await refusal('submit_fold', args)).toMatch(/Try again in 7 s/);
  });
});

describe('graphql', () => {
  it('runs any read, and shows errors as they are', async () => {
    const query = 'query($hash: ProteinHash!) { protein(hash: $hash) { length } }';
    const result = await agent.call('graphql', { query, variables: { hash: INSULIN } });
    expect(JSON.parse(resultText(result))).toEqual({ data: { protein: { length: 110 } } });
    expect(await refusal('graphql', { query: '{ protein }' })).toMatch(/BAD_USER_INPUT/);
    expect(await refusal('graphql', { query: '{ protein( }' })).toMatch(/cannot be parsed/);
    const costly = `{ proteins(hashes: ["${INSULIN}"]) { similar { hits { protein { similar { hits { protein { similar(first: 100) { hits { protein { similar(first: 100) { queryHash } } } } } } } } } } } }`;
    expect(await refusal('graphql', { query: costly })).toMatch(/QUERY_TOO_EXPENSIVE/);
  });

  it('is cut at 20 kB, with a word', async () => {
    const result = await agent.call('graphql', { query: getIntrospectionQuery() });
    expect(jsonBytes(result)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(jsonBytes(result)).toBeGreaterThan(MAX_RESULT_BYTES * 0.8);
    expect(resultText(result)).toMatch(/\[Cut: the answer has \d+ characters.*Select fewer fields/);
  });

  it('runs no subscription, and mutations only where they are on', async () => {
    const mutation = 'mutation { cancelBatch(batchId: "x") { __typename } }';
    const hidden = `query A { limits { maxItems } } ${mutation.replace('mutation', 'mutation B')}`;
    const subscription = 'subscription { batchProgress(batchId: "x") { sequence } }';
    expect(await refusal('graphql', { query: subscription })).toMatch(/batch_status/);
    expect(resultText(await agent.call('graphql', { query: mutation }))).toContain('NotFound');
    const other = await connect({ gateway: reader.gateway });
    reader.forget();
    for (const query of [mutation, hidden])
      expect(await refusal('graphql', { query }, other)).toMatch(/MCP_MUTATIONS=1/);
    const { tools } = await other.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('submit_fold');
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true);
    expect(other.client.getInstructions()).toMatch(/MCP_MUTATIONS=1/);
    expect(reader.calls).toEqual([]);
    await other.close();
  });
});

describe('a result', () => {
  const options = { list: 'rows', askMore: 'Ask for the rest.' };

  it('has at most 20 kB whatever it holds, and says what is left out', () => {
    const rows = fc.array(fc.dictionary(fc.string(), fc.string({ maxLength: 300, unit: 'grapheme' })), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(rows, fc.string({ maxLength: 9_000, unit: 'binary' }), (all, text) => {
        const result = toResult({ rows: all, text }, [], options);
        expect(jsonBytes(result)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
        if (result.isError) return;
        const shown = listAt(result.structuredContent, 'rows');
        const plain = all.map((row) =>
          Object.fromEntries(Object.entries(row).map((entry) => entry.map(plainLines))),
        );
        expect(shown).toEqual(plain.slice(0, shown.length));
        const isWhole = shown.length === all.length && text.length <= 4_000;
        expect(at(result.structuredContent, 'more') === undefined).toBe(isWhole);
        expect(jsonBytes(toJsonText({ data: { all, text } }))).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      }),
      { numRuns: runs(40) },
    );
  });

  it('rounds numbers as web pages do, and leaves whole ones', () => {
    const given = {
      a: [92.542_424_2, 0.369_24, [1234.567, -0.000_012_345]],
      b: 16_384,
      c: 0,
      d: 100.5,
      e: -2.059_087,
    };
    expect(toResult(given, [], { list: 'none', askMore: '' }).structuredContent).toEqual({
      ...{ a: [92.5, 0.369, [1235, -0.000_012_3]], b: 16_384, c: 0, d: 101, e: -2.06 },
    });
  });

  it('names the texts and the rows that were cut', () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ name: `row ${i}`.padEnd(100) }));
    const { structuredContent } = toResult({ sequence: 'A'.repeat(34_350), rows }, ['one'], options);
    expect(structuredContent).toMatchObject({ problems: ['one'] });
    expect(at(structuredContent, 'more')).toMatch(
      /^`sequence` is cut to 4000 of 34350 characters; .* Only the first \d+ of 500 are shown: .* Ask for the rest\.$/,
    );
  });
});
