// Answers with a member removed, null, of another type, another number, cut or doubled: whatever
// the gateway refuses, the doctor reports, and it reports nothing but the member that has changed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import type { Check } from '../../src/doctor/check.ts';
import { examine } from '../../src/doctor/doctor.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { toUpstreamSettings } from '../../src/upstream/settings.ts';
import { runs } from '../property-runs.ts';
import { until } from '../subscriptions/support.ts';
import { at } from '../support.ts';
import { openPlace, TOKEN } from '../upstream/liar.ts';
import { type Change, type ChangingProxy, openProxy } from './proxy.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const SEQUENCE =
  'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQP' +
  'LALEGSLQKRGIVEQCCTSICSLYQLENYCN';

type Json = Record<string, unknown>;

let sandbox: Sandbox;
let proxy: ChangingProxy;
let batch: string;
const connections = openServiceConnections();
const ENV = () => ({ DOWNLOAD_HOSTS: new URL(sandbox.url).host, CACHE_RECORDS_SECONDS: '0' });

async function post(operation: string, body: unknown): Promise<Json> {
  const response = await fetch(`${sandbox.url}/api/v1/batch/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return Object(await response.json()).data;
}

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', speed: 10_000 });
  proxy = await openProxy(sandbox.url, true);
  const input = { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTG' }] };
  const payload = [{ model: 'foldmodel2-2026-05-cutoff-2025', all_atom_input: input }];
  const submitted = await post('submit', { endpoint: 'fold_max_accuracy', payload, repeat: 2 });
  batch = String(submitted.batch_id);
  await until('the batch is done', async () => (await post('list', { batch_id: batch })).status === 'done');
}, 60_000);
afterAll(async () => {
  await Promise.all([connections.close(), proxy.close()]);
  await sandbox.close();
});

/** An operation: its check, its answer, and a question that needs the whole answer. */
interface Subject {
  readonly check: string;
  readonly path: RegExp;
  /** The object of the answer whose members change. */
  readonly inside?: (body: Json) => Json;
  readonly query: () => string;
}

const MANY = JSON.stringify(
  Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(32, '0')),
);

const first = (name: string) => (body: Json) => Object(Object(body[name])[0]) as Json;
const inData = (body: Json) => body.data as Json;
const PROTEIN = new RegExp(`/proteins/${HASH}\\?`);
const SEARCH = `similarProteins(sequence: "${SEQUENCE}", first: 2)`;
const SUBJECTS: readonly Subject[] = [
  {
    check: 'features',
    path: /\/features$/,
    inside: (body) => first('data')(body),
    query: () => '{ features(first: 2) { nodes { index label description } } }',
  },
  {
    check: 'feature',
    path: /\/features\/7$/,
    query: () =>
      '{ feature(index: 7) { label summary category nearestNeighbors(first: 2) { index } topProteins(first: 2) { accession } } }',
  },
  {
    check: 'protein',
    path: PROTEIN,
    query: () =>
      `{ protein(hash: "${HASH}") { accession source sequence length ptm plddt { mean values } structure { text }
         features(first: 3) { value regions { start } } raw } }`,
  },
  {
    check: 'cluster',
    path: /\/clusters\//,
    query: () =>
      `{ protein(hash: "${HASH}") { cluster { name percentCharacterized memberHashes pfamDomains(first: 2) { id }
         phyla(first: 2) { name } representative { features(first: 2) { value } } } } }`,
  },
  {
    check: 'similarity',
    path: /\/similarity-search/,
    query: () => `{ ${SEARCH} { restrictedCount hits { score } sharedFeatures { occurrences } } }`,
  },
  {
    check: 'similarity',
    path: /\/similarity-search/,
    inside: first('similar_proteins'),
    query: () => `{ ${SEARCH} { hits { score protein { hash accession length ptm } } } }`,
  },
  {
    check: 'uniprot',
    path: /\/uniprot\/P01308$/,
    query: () => '{ uniprotEntry(id: "P01308") { accession name gene organism sequence proteinHash } }',
  },
  {
    check: 'list, own batch',
    path: /\/batch\/list$/,
    inside: inData,
    query: () => `{ batch(batchId: "${batch}") { status tasks(first: 1) { nodes { taskId status } } } }`,
  },
  {
    check: 'list, own batch',
    path: /\/batch\/list$/,
    inside: (body) => first('items')(inData(body)),
    query: () =>
      `{ batch(batchId: "${batch}") { tasks(first: 1) { nodes { taskId status error { code } } } } }`,
  },
  {
    check: 'status, own task',
    path: /\/batch\/status$/,
    inside: inData,
    query: () => `{ task(taskId: "${batch}-00000") { status result { ptm } } }`,
  },
  {
    check: 'bulk, 500 hashes',
    path: /\/proteins\/batch$/,
    query: () => `{ proteins(hashes: ${MANY}) { length } }`,
  },
  {
    check: 'job',
    path: /\/proteins\/batch\/jobs\//,
    query: () => `{ proteins(hashes: ${MANY}) { length } }`,
  },
];

/** Pictures that are none. */
const PICTURES: Readonly<Record<string, (png: Buffer) => Buffer>> = {
  whole: (png) => png,
  empty: () => Buffer.alloc(0),
  'cut in the middle': (png) => png.subarray(0, png.length / 2),
  'without its end': (png) => png.subarray(0, -1),
  'a page': () => Buffer.from('<html>hello</html>'),
  'with another beginning': (png) => Buffer.concat([Buffer.from([0x88]), png.subarray(1)]),
  'in JSON': (png) => Buffer.from(JSON.stringify({ data: png.toString('base64') })),
};

/** Ways in which a value changes; undefined where it has no such way. */
const MUTATIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  removed: () => undefined,
  null: () => null,
  'of another type': (value) => (typeof value === 'string' ? 7 : 'text'),
  negative: (value) => (typeof value === 'number' ? -1 - value : value),
  'a huge number': (value) => (typeof value === 'number' ? 1e12 : value),
  // A text may be an address, which the doctor does not open.
  cut: (value) => (Array.isArray(value) ? value.slice(0, Math.floor(value.length / 2)) : value),
  doubled: (value) => (Array.isArray(value) ? [...value, ...value] : value),
};

/** Changed answers of each operation in a usual run. */
const ANSWERS = 10;

/** Changes a member of one kind of answers. */
const mutate =
  (
    { path, inside = (body) => body }: Subject,
    member: string,
    toOther: (value: unknown) => unknown,
  ): Change =>
  (answer, question) => {
    if (!path.test(question.path) || answer.status >= 300 || !answer.type.includes('json')) return;
    const body = JSON.parse(answer.body.toString()) as Json;
    const place = inside(body);
    if (!Object.hasOwn(place, member)) return;
    place[member] = toOther(place[member]);
    answer.body = Buffer.from(JSON.stringify(body));
  };

/** The first question for a feature shows only where the API is. */
const skipFirst = (path: RegExp, change: Change): Change => {
  let seen = 0;
  return (answer, question) => {
    seen += Number(/\/features\/7$/.test(question.path));
    if (!path.test('/features/7') || seen > 1) change(answer, question);
  };
};

async function askDoctor(change: Change | undefined): Promise<readonly Check[]> {
  proxy.change(change);
  const settings = toUpstreamSettings(readConfig(ENV()), proxy.url);
  const up = { settings, connections, token: TOKEN, requestId: 'test', signal: undefined };
  return (await examine(up, { sandbox: false, batchId: batch })).checks;
}

/** Whether the gateway refuses an answer, as an error or as that of an item. */
async function isRefused(query: string, change: Change | undefined): Promise<boolean> {
  proxy.change(change);
  const limits = { responseCacheBytes: 0 };
  const place = openPlace(proxy.url, ENV(), { limits });
  const { data, errors = [] } = await place.query(query);
  await place.gateway.close();
  const ofItem = at(data, 'batch.tasks.nodes.0.error.code');
  return errors.length > 0 || ofItem === 'UPSTREAM_DRIFT';
}

/** The members of the answers as the sandbox gives them. */
async function listMembers(subject: Subject): Promise<Json> {
  let found: Json | undefined;
  await askDoctor((answer, { path }) => {
    if (!subject.path.test(path) || answer.status >= 300 || !answer.type.includes('json')) return;
    const place = (subject.inside ?? ((body) => body))(JSON.parse(answer.body.toString()) as Json);
    if (Object.keys(place).length > 0) found ??= place;
  });
  return found ?? expect.fail(`no answer to ${subject.check}`);
}

/** Answers that the gateway refused, of all operations. */
let refused = 0;

describe('the doctor', () => {
  it('finds nothing wrong where the gateway refuses nothing', async () => {
    await until('the job is done', async () =>
      (await askDoctor(undefined)).some(({ name, http }) => name === 'job' && http === 200),
    );
    const checks = await askDoctor(undefined);
    expect(checks.filter(({ status }) => status !== 'OK')).toEqual([]);
    for (const { query } of SUBJECTS) expect(await isRefused(query(), undefined), query()).toBe(false);
  });

  it.each(SUBJECTS.map((subject, i) => [subject.check, i] as const))(
    'reports whatever the gateway refuses of an answer, and only the changed member: %s (%i)',
    async (name, i) => {
      const subject = SUBJECTS[i] ?? expect.fail('no subject');
      const honest = await listMembers(subject);
      const wrong: string[] = [];
      const all = Object.entries(honest).flatMap(([member, value]) =>
        Object.entries(MUTATIONS)
          .filter(([, toOther]) => JSON.stringify(toOther(value)) !== JSON.stringify(value))
          .map(([way, toOther]) => ({ member, way, toOther })),
      );
      // Evenly over the members, by a step that meets all ways.
      const count = Math.min(all.length, runs(ANSWERS));
      const chosen = Array.from({ length: count }, (_, k) => all[Math.floor((k * all.length) / count)]);
      for (const one of chosen) {
        const { member, way, toOther } = one ?? expect.fail('no mutation');
        const change = mutate(subject, member, toOther);
        const checks = await askDoctor(skipFirst(subject.path, change));
        const { status, differences = [] } = checks.find((check) => check.name === name) ?? {};
        const isDrift = await isRefused(subject.query(), change);
        refused += Number(isDrift);
        const isOfMember = differences.some(({ path }) => path.includes(member) || path.includes('[]'));
        if (isDrift ? status !== 'CHANGED' : status !== 'OK' && !isOfMember)
          wrong.push(`${member} ${way}: ${status} ${JSON.stringify(differences)}`);
      }
      expect(wrong).toEqual([]);
    },
    600_000,
  );

  it.each(
    Object.entries(PICTURES),
  )('reports a thumbnail that the gateway refuses: %s', async (_, toOther) => {
    const change: Change = (answer, { path }) => {
      if (/\/thumbnail\//.test(path)) answer.body = toOther(answer.body);
    };
    const checks = await askDoctor(change);
    const states = checks.filter(({ name }) => name.startsWith('thumbnail')).map(({ status }) => status);
    const isDrift = await isRefused(`{ protein(hash: "${HASH}") { thumbnail { sizeBytes } } }`, change);
    expect(states).toEqual([isDrift, isDrift].map((is) => (is ? 'CHANGED' : 'OK')));
    refused += Number(isDrift);
  });

  it('has seen answers that the gateway refuses', () => {
    expect(refused).toBeGreaterThan(SUBJECTS.length);
  });
});
