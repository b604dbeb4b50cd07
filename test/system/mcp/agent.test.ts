// An agent's task: it finds a dark cluster near insulin, folds a protein of it and a variant,
// and ranks them. It starts `foldatlas mcp` itself, or asks /mcp over a socket, each through the
// SDK's own client.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultText } from '../../mcp/client.ts';
import { ROOT } from '../../root.ts';
import { at, listAt } from '../../support.ts';
import { BIN, run } from '../cli/bin.ts';
import { openPlace, type Place } from '../clients/place.ts';

const TOKEN = 'key-of-an-agent';

let place: Place;
let origin: string;
beforeAll(async () => {
  place = await openPlace({ MCP_MUTATIONS: '1' });
  origin = new URL(place.url).origin;
});
afterAll(() => place.close());

const overStdio = (words: readonly string[] = []) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', '--url', origin, ...words],
    env: { PATH: process.env.PATH ?? '', FOLDATLAS_TOKEN: TOKEN },
    stderr: 'pipe',
  });
const overHttp = () =>
  new StreamableHTTPClientTransport(new URL('/mcp', origin), {
    requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
  });

async function connect(transport: Transport, mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

const TRANSPORTS: readonly [string, () => Transport, 'auto' | 'legacy'][] = [
  ['foldatlas mcp', () => overStdio(['--mutations']), 'legacy'],
  ['/mcp', overHttp, 'auto'],
];

/** A token of a language model is about four bytes of such text. */
const BYTES_A_TOKEN = 4;
const MAX_TOKENS_OF_TASK = 7_000;

describe.each(TRANSPORTS)('an agent over %s', (name, open, mode) => {
  it('finds a dark cluster near insulin, folds a variant, and ranks, within 7,000 tokens', async () => {
    const client = await connect(open(), mode);
    // Its model reads and writes instructions and tools once, then arguments and results.
    let bytes = 0;
    const count = (text: unknown) => {
      bytes += Buffer.byteLength(typeof text === 'string' ? text : JSON.stringify(text));
    };
    count(client.getInstructions() ?? '');
    count((await client.listTools()).tools);
    const ask = async (tool: string, args: Record<string, unknown>): Promise<CallToolResult> => {
      const result: CallToolResult = await client.callTool({ name: tool, arguments: args });
      expect(result.isError ?? false, resultText(result)).toBe(false);
      return result;
    };
    const call = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
      const result = await ask(tool, args);
      count({ name: tool, arguments: args });
      count(resultText(result));
      return result.structuredContent;
    };

    const found = await call('lookup_proteins', { ids: ['INS_HUMAN'] });
    expect(at(found, 'rows.0.1')).toBe('FOUND');
    const near = await call('similar_proteins', { id: 'INS_HUMAN', maxPercentCharacterized: 0 });
    const cluster = await call('get_cluster', { id: at(near, 'hits.0.cluster.representativeHash') });
    expect(at(cluster, 'percentCharacterized')).toBe(0);
    const smallest = listAt(cluster, 'members.nodes').toSorted(
      (a, b) => Number(at(a, 'length')) - Number(at(b, 'length')),
    );
    const member = await call('get_protein', { id: at(smallest, '0.hash'), includeSequence: true });
    const sequence = String(at(member, 'protein.sequence'));

    const variant = `${sequence.slice(0, 4)}${sequence[4] === 'A' ? 'G' : 'A'}${sequence.slice(5)}`;
    const items = Object.entries({ wild: sequence, variant }).map(([item, text]) => ({
      name: item,
      chains: [{ protein: { sequence: text } }],
    }));
    expect(await call('check_fold', { items })).toMatchObject({ ok: true, taskCount: 2 });
    const submission = { items, idempotencyKey: `dark-variant over ${name}` };
    const sent = await call('submit_fold', submission);
    expect(sent).toMatchObject({ replayed: false, batch: { counts: { total: 2 } } });
    expect(await call('submit_fold', submission)).toMatchObject({ replayed: true });

    const batchId = at(sent, 'batch.batchId');
    // A slow machine makes it ask more often, which is not counted.
    const readStatus = async () => at((await ask('batch_status', { batchId })).structuredContent, 'status');
    let status = await readStatus();
    for (; status === 'IN_PROGRESS'; status = await readStatus()) await sleep(200);
    expect(status).toBe('DONE');
    const ranked = listAt(await call('batch_status', { batchId, orderBy: 'PTM' }), 'tasks.nodes');
    const [best, second] = ranked.map((task) => Number(at(task, 'scores.ptm')));
    expect(best).toBeGreaterThanOrEqual(second ?? Number.NaN);
    const result = await call('fold_result', { taskId: at(ranked, '0.taskId') });
    expect(at(result, 'result.ptm')).toBe(best);
    const file = await fetch(String(at(result, 'result.structure.url')), {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await file.text()).toContain('_atom_site');
    expect(Math.ceil(bytes / BYTES_A_TOKEN)).toBeLessThan(MAX_TOKENS_OF_TASK);
    await client.close();
  });
});

describe('foldatlas mcp', () => {
  it('submits nothing until it is told to, and follows the protocol of 2026 as well', async () => {
    const transport = overStdio();
    const client = await connect(transport, 'auto');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('submit_fold');
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toHaveLength(1);
    expect(await client.readResource({ uri: 'foldatlas://schema/Protein' })).toMatchObject({
      contents: [{ text: expect.stringContaining('type Protein') }],
    });
    await client.close();
  });

  it('writes nothing but messages to standard output, and ends with its input', async () => {
    const initialize = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const input = `${JSON.stringify(initialize)}\n`;
    const { code, out, err } = await run(['mcp', '--url', 'http://127.0.0.1:1'], { input });
    expect([code, err]).toEqual([0, '']);
    for (const line of out.trim().split('\n').filter(Boolean))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  it('answers a line that is no message, and goes on', async () => {
    const ping = { jsonrpc: '2.0', method: 'ping' };
    const lines = ['{bad json', '[]', '{}', { ...ping, id: null }, { ...ping, id: 5 }];
    const input = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
    const { code, out, err } = await run(['mcp', '--url', origin], { input });
    expect([code, err]).toEqual([0, '']);
    const refused = (code: number) => ({ id: null, error: { code } });
    expect(
      out
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toMatchObject([
      ...[refused(-32700), refused(-32600), refused(-32600), refused(-32600)],
      { id: 5, result: {} },
    ]);
  });

  it('takes null as left out, in arguments and in params', async () => {
    const call = (given: unknown, more: Record<string, unknown> = {}) => ({
      method: 'tools/call',
      params: { name: 'search_features', arguments: given, ...more },
    });
    const messages = [
      {
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      },
      { method: 'tools/list', params: null },
      { method: 'tools/list' },
      call({ indices: [7, 8], search: null, first: null, after: null }),
      call({ indices: [7, 8] }),
      call(null, { _meta: null }),
      call({}),
    ];
    const input = messages.map((message, id) => `${JSON.stringify({ jsonrpc: '2.0', id, ...message })}\n`);
    const { code, out } = await run(['mcp', '--url', origin], { input: input.join('') });
    expect(code).toBe(0);
    const results: unknown[] = [];
    for (const line of out.trim().split('\n')) {
      const answer: unknown = JSON.parse(line);
      results[Number(at(answer, 'id'))] = at(answer, 'result');
    }
    for (const first of [1, 3, 5]) {
      expect(results[first]).toBeDefined();
      expect(results[first]).not.toHaveProperty('isError');
      expect(results[first]).toEqual(results[first + 1]);
    }
  });

  it.each([
    '',
    '/',
    '/graphql',
    '/graphql/',
    '/graphql?query={x}#top',
  ])('answers all that was asked before its input ends, at the address of the gateway with "%s"', async (path) => {
    const initialize = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const ids = ['a', 'b', 3];
    const calls = ids.map((id) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'lookup_proteins', arguments: { ids: ['INS_HUMAN'] } },
    }));
    // A request that is cancelled, and lines that are no messages, are not waited for.
    const cancelled = [
      { jsonrpc: '2.0', id: 'gone', method: 'tools/call', params: calls[0]?.params },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } },
      { id: 'unanswered', method: 'tools/call' },
    ];
    const input = [initialize, ...calls, ...cancelled].map((line) => `${JSON.stringify(line)}\n`).join('');
    const { code, out } = await run(['mcp', '--url', `${origin}${path}`], { input });
    expect(code).toBe(0);
    const answers = new Map<unknown, unknown>();
    for (const line of out.trim().split('\n')) answers.set(at(JSON.parse(line), 'id'), JSON.parse(line));
    for (const id of ids) expect(at(answers.get(id), 'result.structuredContent.rows.0.1')).toBe('FOUND');
  });

  it('says what is wrong with its address, and with a gateway that is away', async () => {
    expect(await run(['mcp', '--url', 'atlas.test'])).toMatchObject({
      code: 64,
      err: expect.stringContaining('--url: give the address'),
    });
    const client = await connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [BIN, 'mcp', '--url', 'http://127.0.0.1:1'],
      }),
      'legacy',
    );
    const result = await client.callTool({ name: 'lookup_proteins', arguments: { ids: ['P01308'] } });
    expect(resultText(result)).toMatch(/gateway at http:\/\/127\.0\.0\.1:1 gives no answer.*Does it run/);
    await client.close();
  });
});

it('is not part of what a gateway loads to start', () => {
  const library = /McpServer = class|class McpServer/;
  const files = new Map<string, string>();
  const follow = (file: string): void => {
    if (files.has(file)) return;
    const text = readFileSync(file, 'utf8');
    files.set(file, text);
    for (const [, path = ''] of text.matchAll(/^(?:import|export|\})[^;(]*?"(\.{1,2}\/[^"]+\.js)";$/gm))
      follow(resolve(dirname(file), path));
  };
  follow(`${ROOT}dist/index.js`);
  const loaded = [...files.values()];
  expect(loaded.some((text) => text.includes('createGateway'))).toBe(true);
  expect(loaded.filter((text) => library.test(text))).toEqual([]);
  const all = readdirSync(`${ROOT}dist/chunks`).filter((name) => name.endsWith('.js'));
  expect(all.some((name) => library.test(readFileSync(`${ROOT}dist/chunks/${name}`, 'utf8')))).toBe(true);
});
