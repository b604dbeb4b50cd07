// The doctor refuses what the gateway refuses: both read with the same functions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { examine } from '../../src/doctor/doctor.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { toUpstreamSettings } from '../../src/upstream/settings.ts';
import { until } from '../subscriptions/support.ts';
import { openPlace, TOKEN } from '../upstream/liar.ts';
import { type ChangingProxy, inJson, openProxy } from './proxy.ts';

const rescore = (fields: Record<string, unknown>, score: number): void => {
  const hits = fields.similar_proteins;
  for (const hit of Array.isArray(hits) ? hits : []) hit.similarity_score = score;
};
const HASH = '12e9c9e4e2835c302e8ba615115edda3';

let sandbox: Sandbox;
/** Files are at the sandbox, whose address is not that of the proxy. */
const ENV = () => ({ DOWNLOAD_HOSTS: new URL(sandbox.url).host });
let proxy: ChangingProxy;
const connections = openServiceConnections();
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', speed: 10_000 });
  proxy = await openProxy(sandbox.url, true);
});
afterAll(async () => {
  await Promise.all([connections.close(), proxy.close()]);
  await sandbox.close();
});

const set = (path: RegExp, name: string, toLie: (value: unknown) => unknown) =>
  inJson(path, (fields) => {
    if (name in fields) fields[name] = toLie(fields[name]);
  });
const PROTEIN = /\/proteins\/[0-9a-f]{32}(\?|$)/;
const protein = (fields: string) => `{ protein(hash: "${HASH}") { ${fields} } }`;
const toGlycines = (pdb: unknown) => String(pdb).replace(/^(ATOM.{13})MET/gm, '$1GLY');
const members = protein('cluster { members(first: 1) { totalCount } }');
const halved = (value: unknown) =>
  Array.isArray(value) ? value.slice(0, Math.ceil(value.length / 2)) : value;

/** Changes the data of an answer of the Batch API. */
const inData = (operation: string, changes: object) =>
  inJson(new RegExp(`/batch/${operation}$`), (fields) => void Object.assign(Object(fields.data), changes));

/** A batch of two tasks, both of them done. */
async function finishedBatch(): Promise<string> {
  const post = async (operation: string, body: unknown) => {
    const response = await fetch(`${sandbox.url}/api/v1/batch/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return Object(await response.json()).data;
  };
  const input = { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTG' }] };
  const payload = [{ model: 'foldmodel2-2026-05-cutoff-2025', all_atom_input: input }];
  const { batch_id } = await post('submit', { endpoint: 'fold_max_accuracy', payload, repeat: 2 });
  await until('the batch is done', async () => (await post('list', { batch_id })).status === 'done');
  return String(batch_id);
}

const PAGE = '($batch: ID!) { batch(batchId: $batch) { tasks(first: 1) { nodes { taskId status } } } }';
const TASK = '($task: ID!) { task(taskId: $task) { status result { ptm } } }';
const SEARCH = '{ similarProteins(sequence: "MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLV") { hits { score } } }';

describe('the doctor, with the batch of a caller', () => {
  let batch: string;
  beforeAll(async () => {
    batch = await finishedBatch();
  });

  it.each([
    ['list, own batch', 'nothing else', PAGE, undefined],
    ['list, own batch', 'counts of more tasks', PAGE, inData('list', { cursor: null })],
    ['list, own batch', 'counts of none', PAGE, inData('list', { counts: {} })],
    ['list, own batch', 'counts that are texts', PAGE, inData('list', { counts: 'many' })],
    ['list, own batch', 'no items', PAGE, inData('list', { items: null })],
    ['list, own batch', 'items without an id or a state', PAGE, inData('list', { items: [{ task_id: 7 }] })],
    ['status, own task', 'nothing else', TASK, undefined],
    ['status, own task', 'no result', TASK, inData('status', { response: null })],
    ['status, own task', 'no state', TASK, inData('status', { status: null })],
    ['status, own task', 'another task', TASK, inData('status', { task_id: 'b2-00000' })],
    ['status, own task', 'a private address', TASK, inData('status', { response: 'https://10.0.0.5/a' })],
    ['status, own task', 'an address of no host', TASK, inData('status', { response: 'file:///etc/passwd' })],
    ['status, own task', 'a result that is none', TASK, inData('status', { response: { id: 7 } })],
    ['list, own batch', 'no items, although counts say two', PAGE, inData('list', { items: [] })],
    ['list, own batch', 'no items for ever', PAGE, inData('list', { items: [], cursor: 'x' })],
    ['list, own batch', 'another batch', PAGE, inData('list', { batch_id: 'b2' })],
    ['similarity', 'nothing else', SEARCH, undefined],
    ['similarity', 'no hits', SEARCH, set(/similarity/, 'similar_proteins', () => 'none')],
    ['similarity', 'scores of 9', SEARCH, inJson(/similarity/, (fields) => rescore(fields, 9))],
  ] as const)('%s: says OK of %s just where the gateway reads it', async (name, _, query, change) => {
    proxy.change(change);
    const settings = toUpstreamSettings(readConfig(ENV()), proxy.url);
    const up = { settings, connections, token: TOKEN, requestId: 'test', signal: undefined };
    const { checks } = await examine(up, { sandbox: false, batchId: batch });
    const status = checks.find((check) => check.name === name)?.status;
    const place = openPlace(proxy.url, ENV());
    const ask = query.startsWith('(') ? `query ${query}` : query;
    const { errors = [] } = await place.query(
      ask,
      query === PAGE ? { batch } : query === TASK ? { task: `${batch}-00000` } : {},
    );
    await place.gateway.close();
    const codes = errors.map(({ extensions }) => extensions.code);
    expect([status, codes]).toEqual(
      change === undefined ? ['OK', []] : ['CHANGED', expect.arrayContaining(['UPSTREAM_DRIFT'])],
    );
  });
});

describe('the doctor', () => {
  it.each([
    ['https://10.0.0.5/a', 'DOWNLOAD_HOSTS'],
    ['http://files.example.org/a', 'DOWNLOAD_HOSTS'],
    ['ftp://files.example.org/a', undefined],
  ])('names the setting of an address that the gateway does not follow: %s', async (response, setting) => {
    const batch = await finishedBatch();
    proxy.change(inData('status', { response }));
    const settings = toUpstreamSettings(readConfig(ENV()), proxy.url);
    const up = { settings, connections, token: TOKEN, requestId: 'test', signal: undefined };
    const { checks } = await examine(up, { sandbox: false, batchId: batch });
    expect(checks.find(({ name }) => name === 'status, own task')).toMatchObject({
      status: 'CHANGED',
      differences: [{ seen: 'UPSTREAM_DRIFT', setting }],
    });
  });

  it.each([
    ['protein', 'the sequence of another protein', set(PROTEIN, 'sequence', () => 'MKTAYIAK'), null],
    ['protein', 'the structure of another protein', set(PROTEIN, 'pdb', toGlycines), null],
    ['protein', 'another length', set(PROTEIN, 'sequence_length', () => 7), null],
    ['cluster', 'half of the members', set(/\/clusters\//, 'member_protein_hashes', halved), members],
    ['cluster', 'another cluster', set(/\/clusters\//, 'protein_hash', () => 'a'.repeat(32)), members],
    ['feature', 'another feature', set(/\/features\/\d+$/, 'feature_index', () => 8), null],
    ['features', 'labels that are all null', set(/\/features$/, 'label', () => null), null],
  ])('reports of %s: %s', async (name, _, change, query) => {
    proxy.change(change);
    const settings = toUpstreamSettings(readConfig(ENV()), proxy.url);
    const up = { settings, connections, token: undefined, requestId: 'test', signal: undefined };
    const { checks } = await examine(up, { sandbox: false });
    expect(checks.find((check) => check.name === name)?.status, JSON.stringify(checks)).not.toBe('OK');
    if (query === null) return;
    const place = openPlace(proxy.url);
    expect((await place.query(query)).errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_DRIFT' });
    await place.gateway.close();
  });
});
