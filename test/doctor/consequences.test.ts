// What the doctor says of a drift is what the gateway then does: each drift is put in front of a gateway, and the place that
// the sentence names is read before and after it.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { isAnswerName, PROMISED } from '../../src/contract/answers.ts';
import { finding } from '../../src/contract/checks/probe.ts';
import { runChecks } from '../../src/contract/checks/run-checks.ts';
import { compare } from '../../src/contract/compare.ts';
import { FIELD_BY_WIRE_KEY } from '../../src/contract/graphql-impact.ts';
import { createGateway } from '../../src/gateway.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { openPublicAgent } from '../../src/upstream/http/download.ts';
import { settingsOf } from '../../src/upstream/settings.ts';
import { testLogger } from '../record.ts';
import { type Answer, at } from '../support.ts';
import { reached } from '../transport.ts';
import { FOLD, FREE, JOB, RICH, SPENT, STATUS, SUBMIT } from './drift-cases.ts';
import { type Change, type ChangingProxy, inJson, openProxy, renamedKey } from './proxy.ts';
import { type Folded, readOf } from './reads.ts';

let sandbox: Sandbox;
let proxy: ChangingProxy;
let folded: Folded;
const connections = openServiceConnections();
const publicAgent = openPublicAgent();
const before = new Map<string, Answer>();

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', speed: 10_000, dialect: 'rich' });
  proxy = await openProxy(sandbox.url);
  drift();
  const fold = `includePae: true, includePairChainsIptm: true, includeEmbeddings: true,
    chains: [{protein: {sequence: "MQIFVKTLTG"}}]`;
  const { data } = await ask(`mutation { submitFold(input: {repeat: 2, items: [{${fold}}]}) {
    ... on FoldSubmitted { batch { batchId tasks { nodes { taskId } } } } } }`);
  folded = {
    batchId: String(at(data, 'submitFold.batch.batchId')),
    taskId: String(at(data, 'submitFold.batch.tasks.nodes.0.taskId')),
  };
});
afterAll(async () => {
  await Promise.all([connections.close(), publicAgent.close(), proxy.close()]);
  await sandbox.close();
});

/** From now on. Files are downloaded through the proxy, too. */
function drift(change?: Change): void {
  proxy.change((answer, question) => {
    if (STATUS.test(question.path) || JOB.test(question.path))
      answer.body = Buffer.from(answer.body.toString().replaceAll(sandbox.url, proxy.url));
    change?.(answer, question);
  });
}

/** Asks a gateway that has never asked anything. */
async function ask(query: string): Promise<Answer> {
  const config = readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent', CACHE_RECORDS_SECONDS: '0' });
  const gateway = reached(
    createGateway({ config, upstreamUrl: proxy.url, log: testLogger(), sandbox: true }),
  );
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer doctor' },
      body: JSON.stringify({ query }),
    }),
  );
  const answer = (await response.json()) as Answer;
  await gateway.close();
  return answer;
}

/** What a whole service answers. */
async function whole(query: string): Promise<Answer> {
  const known = before.get(query);
  if (known !== undefined) return known;
  drift();
  const answer = await ask(query);
  expect(answer.errors).toBeUndefined();
  before.set(query, answer);
  return answer;
}

/** Whether something of a value is gone from another: null, or missing in a list. */
function hasLost(now: unknown, then: unknown): boolean {
  if (now === null || now === undefined) return then !== null && then !== undefined;
  if (Array.isArray(now) && Array.isArray(then))
    return now.length < then.length || then.some((one, i) => hasLost(now[i], one));
  if (typeof now === 'object' && typeof then === 'object' && then !== null)
    return Object.entries(then).some(([key, one]) => hasLost(at(now, key), one));
  return false;
}

/** Holds an answer to a sentence. */
function hold(sentence: string, now: Answer, then: Answer): void {
  if (/fails? with/.test(sentence)) {
    const codes = now.errors?.map((error) => at(error, 'extensions.code'));
    expect(codes, sentence).toContain('UPSTREAM_DRIFT');
    return;
  }
  expect(now.errors, sentence).toBeUndefined();
  if (sentence.startsWith('nothing is lost')) expect(now.data, sentence).toEqual(then.data);
  else if (sentence.includes('read from elsewhere'))
    expect(hasLost(now.data, then.data), sentence).toBe(false);
  else if (sentence.endsWith('null or incomplete')) expect(hasLost(now.data, then.data), sentence).toBe(true);
  else if (sentence.endsWith('is UNKNOWN')) expect(JSON.stringify(now.data)).toContain('UNKNOWN');
  else {
    expect(sentence).toMatch(/shown as it came$/);
    expect(now.data, sentence).not.toEqual(then.data);
  }
}

/** The field that a sentence names. */
const fieldIn = (sentence: string): string | undefined => /\b[A-Z]\w+\.\w+/.exec(sentence)?.[0];

const BULK = ['archive', 'clusterInfo', 'bulkFeatures'];
/** Of submissions no query tells: see below. */
const ELSEWHERE = ['submit'];
/** What reads the answers that feed no single field. */
const READS: Readonly<Record<string, string>> = {
  features: '{ features(first: 200) { totalCount nodes { index label description } } }',
  bulkJob: `{ proteins(hashes: [${Array.from({ length: 150 }, (_, n) => `"${createHash('md5').update(String(n)).digest('hex')}"`).join()}]) { hash } }`,
};

const ofDrifts = [
  ...Object.entries({ ...FREE, ...RICH }).map(([name, one]) => ({ name, options: {}, ...one })),
  ...Object.entries(SPENT).map(([name, one]) => ({ name, options: FOLD, ...one })),
].filter(({ found }) => !ELSEWHERE.includes(found.split(' ')[0] ?? ''));

describe('what is said of a drift happens', () => {
  it.each(ofDrifts)('$name', async ({ change, found, options }) => {
    drift(change);
    const { checks } = await runChecks(
      {
        settings: settingsOf(readConfig({}), proxy.url),
        connections,
        token: 'doctor',
        requestId: 'test',
        signal: undefined,
        onCall: () => undefined,
      },
      { downloads: { publicAgent }, light: true, ...options },
    );
    const noticed = checks
      .flatMap(({ findings }) => findings)
      .find(({ answer, path }) => `${answer} ${path}` === found);
    expect(noticed?.meaning).toBeDefined();
    const { meaning = '', answer = '' } = noticed ?? {};
    const query =
      READS[answer] ?? readOf(fieldIn(meaning) ?? 'Protein.accession', folded, BULK.includes(answer));
    const then = await whole(query);
    drift(change);
    hold(meaning, await ask(query), then);
  });
});

describe('what is said of a submission happens', () => {
  const drifts = Object.entries(SPENT).filter(([, { found }]) => found.startsWith('submit '));

  it.each(drifts)('%s: its tasks are read from List', async (_, { change, found }) => {
    const body = (answer: Answer) => at(answer, 'data.submitFold.batch');
    const submit = `mutation { submitFold(input: {items: [{chains: [{protein: {sequence: "MQIFVKTLTG"}}]}]}) {
      ... on FoldSubmitted { batch { batchId counts { total } tasks { totalCount nodes { taskId } } } } } }`;
    const said: string[] = [];
    drift((passing, question) => {
      change(passing, question);
      if (!SUBMIT.test(question.path)) return;
      const options = { complete: true, asked: { total: 1 } };
      const drifts = compare(PROMISED.submit, JSON.parse(passing.body.toString()), options);
      for (const one of drifts) if (`submit ${one.path}` === found) said.push(finding('submit', one).meaning);
    });
    const now = await ask(submit);
    expect(said).toEqual([expect.stringContaining('submitFold is read from elsewhere')]);
    expect(now.errors).toBeUndefined();
    expect(body(now)).toMatchObject({ counts: { total: 1 }, tasks: { totalCount: 1 } });
    // The id is that of the service, so that the task can be asked for.
    const taskId = at(body(now), 'tasks.nodes.0.taskId');
    const { data } = await ask(`{ task(taskId: "${String(taskId)}") { taskId } }`);
    expect(data).toEqual({ task: { taskId } });
  });
});

const PATHS: Readonly<Record<string, RegExp>> = {
  protein: /\/proteins\/[0-9a-f]{32}\?/,
  cluster: /\/clusters\//,
  feature: /\/features\/7$/,
  uniprot: /\/uniprot\/P/,
  similarity: /similarity-search/,
  list: /\/batch\/list$/,
  status: STATUS,
  result: /\/results?\//,
};

/** Keys that say nothing here: null in this fold or zero in this search, known from the catalogue, or told by the question. */
const SILENT = new Set([
  'feature label',
  'feature description',
  'feature top_swissprot_activations',
  'protein protein_name',
  'protein cluster_rep_protein_hash',
  'uniprot accession',
  'similarity protein_hash',
  'status error',
  'result interface_ptm',
]);

const keys = Object.entries(PATHS).flatMap(([answer, paths]) =>
  Object.entries(FIELD_BY_WIRE_KEY[answer] ?? {})
    .filter(([key, field]) => !key.includes('.') && key !== 'warning_messages' && !field.endsWith('.raw'))
    .filter(([key]) => !SILENT.has(`${answer} ${key}`))
    .flatMap(([key, field]) =>
      [
        { what: 'renamed', change: renamedKey(paths, key, `${key}_x`) },
        {
          what: 'of another type',
          change: inJson(paths, (fields) => {
            if (Object.hasOwn(fields, key)) fields[key] = typeof fields[key] === 'object' ? 'text' : {};
          }),
        },
      ].map((one) => ({ ...one, answer, key, field, paths })),
    ),
);

describe('what is said of a key happens', () => {
  it.each(keys)('$answer $key $what', async ({ change, answer, key, field, paths }) => {
    const query = readOf(field, folded);
    const then = await whole(query);
    const said = new Set<string>();
    const place = answer === 'list' || answer === 'status' ? `data.${key}` : key;
    drift((passing, question) => {
      change(passing, question);
      if (!isAnswerName(answer) || !paths.test(question.path) || passing.status !== 200) return;
      const drifts = compare(PROMISED[answer], JSON.parse(passing.body.toString()), { complete: true });
      for (const one of drifts) {
        const { meaning, path } = finding(answer, one);
        if (path === place && one.kind !== 'added') said.add(meaning);
      }
    });
    const now = await ask(query);
    // A result that may be inline has no type to differ from; of a record that is not read nothing is said.
    for (const sentence of said) hold(sentence, now, then);
    if (said.size === 0) expect(key).toBe('response');
  });
});

describe('an unknown key', () => {
  const FIELD: Readonly<Record<string, string>> = {
    protein: 'Protein.sequence',
    cluster: 'Cluster.members',
    feature: 'Feature.summary',
    uniprot: 'UniprotEntry.name',
    similarity: 'SimilaritySearch.hits',
    list: 'Batch.tasks',
    status: 'Task.result',
    result: 'FoldResult.pae',
  };

  /** An answer with one more key in itself, in its `data` and in the objects of its lists. */
  const withNewKeys = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const known = Object.entries(value).map(([key, one]) => [
      key,
      key === 'data' ? withNewKeys(one) : Array.isArray(one) ? one.map(withNewKeys) : one,
    ]);
    return { ...Object.fromEntries(known), a_new_key: { of: ['any', 1] } };
  };

  it.each(Object.entries(PATHS))('is nothing lost in an answer of %s', async (answer, paths) => {
    const query = readOf(FIELD[answer] ?? '', folded);
    const then = await whole(query);
    const said = new Set<string>();
    drift((passing, question) => {
      if (!isAnswerName(answer) || !paths.test(question.path) || passing.status !== 200) return;
      const body: unknown = withNewKeys(JSON.parse(passing.body.toString()));
      passing.body = Buffer.from(JSON.stringify(body));
      for (const one of compare(PROMISED[answer], body, { complete: true })) {
        expect(one.kind, one.path).toBe('added');
        said.add(finding(answer, one).meaning);
      }
    });
    const now = await ask(query);
    expect([...said]).toEqual([expect.stringMatching(/^nothing is lost/)]);
    hold('nothing is lost', now, then);
  });
});
