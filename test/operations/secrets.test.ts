// An upstream that quotes whatever it was sent, in every kind of failure: neither token nor signed
// URL nor sequence comes through to a log line, a metric, a trace, an error, an extension or a
// header.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { redact } from '../../src/telemetry/redact.ts';
import type { Tracing } from '../../src/telemetry/tracing.ts';
import { leaksIn } from '../leaks.ts';
import { testLogger } from '../record.ts';
import { reached } from '../transport.ts';
import { type Collector, openCollector, openTracingTo } from './collector.ts';

const TOKEN = 'tok-canary-7f3a9b1c5d';
const SIGNATURE = 'c4n4ry51gn4tur3';
const SIGNED = `https://files.example.org/results/x.json?expires=99&signature=${SIGNATURE}`;
const SEQUENCE = 'MWCANARYQPLKSTVWDEFGHIKLMNPQRSTVWYACDEFGHIKLMNPQ';
const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const SECRETS = [TOKEN, SIGNATURE, SEQUENCE];

type Trouble = (told: string, request: IncomingMessage) => { status: number; body: string };
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'a message that quotes': (told) => ({ status: 400, body: JSON.stringify({ message: told }) }),
  'a validation that quotes': (told) => ({
    status: 422,
    body: JSON.stringify({
      detail: [{ loc: ['body', 'sequence', told], msg: `bad: ${told}`, input: told, type: 'value_error' }],
    }),
  }),
  'a refusal of the token': (told) => ({ status: 401, body: JSON.stringify({ error: told }) }),
  'too much asked': (told) => ({ status: 429, body: JSON.stringify({ message: told }) }),
  'a fault with a trace': (told) => ({
    status: 500,
    body: JSON.stringify({ error: { message: told }, request_id: 'r-1' }),
  }),
  'a page': (told) => ({ status: 418, body: `<html>${told}</html>` }),
  'no JSON': (told) => ({ status: 200, body: `{"a": ${told}` }),
  'another shape': (told) => ({
    status: 200,
    body: JSON.stringify({ [told]: told, sequence: 5, tasks: told }),
  }),
};

let trouble: Trouble;
let upstream: Server;
let collector: Collector;
let tracing: Tracing;
let gateway: Gateway;
const lines: string[] = [];

beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const told = `${request.headers.authorization} asked ${request.url} for ${body} ${SEQUENCE}; see ${SIGNED}`;
    const answer = trouble(told, request);
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'retry-after': '60',
      location: SIGNED,
    });
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  collector = await openCollector();
  tracing = openTracingTo(collector.url, {}, (problem) => expect.fail(problem));
  gateway = reached(
    createGateway({
      config: readConfig({ STORE_URL: 'memory:', REQUEST_TIMEOUT_MS: '3000', MAX_CONCURRENT_REQUESTS: '0' }),
      upstreamUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      log: testLogger((line) => lines.push(line)),
      tracing,
      breaker: { failures: 1000, first: 10, longest: 10 },
    }),
  );
});
afterAll(async () => {
  await gateway.close();
  await tracing.close();
  await collector.close();
  await new Promise((resolve) => upstream.close(resolve));
});

const ITEM = `{ chains: [{ id: "A", protein: { sequence: "${SEQUENCE}" } }] }`;
const OPERATIONS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['query A($s: String!) { proteinBySequence(sequence: $s) { length } }', { s: SEQUENCE }],
  ['query B($s: String!) { similarProteins(sequence: $s) { hits { score } } }', { s: SEQUENCE }],
  [`query C { protein(hash: "${HASH}") { sequence length } uniprotEntry(id: "P01308") { name } }`, {}],
  ['query D { myBatches { nodes { batchId } } batch(batchId: "b-1") { counts { done } } }', {}],
  [`mutation E { submitFold(input: { items: [${ITEM}] }) { __typename ... on Refused { message } } }`, {}],
  // Input that is wrong, which errors quote.
  ['query F($h: ProteinHash!) { protein(hash: $h) { length } }', { h: SEQUENCE }],
  ['query G($n: Int!) { features(first: $n) { totalCount } }', { n: SEQUENCE }],
  [`query H { protein(hash: ${SEQUENCE}) { length } }`, {}],
  [`query I { ${SEQUENCE} }`, {}],
  [`query ${SEQUENCE} { limits { maxBulkHashes } }`, {}],
  [`query J { protein(hash: "${SEQUENCE}`, {}],
  [`query K { protein(hash: "${HASH}", ${SEQUENCE}: 1) { length } }`, { token: TOKEN }],
];

interface Seen {
  readonly errors: number;
  readonly text: string;
}

/**
 * The parts of an answer beside its data: errors, extensions, headers, and the reason of a refused
 * mutation.
 */
async function run(query: string, variables: Record<string, unknown>): Promise<Seen> {
  const response = await gateway.fetch(
    new Request(`http://gateway.test/graphql?token=${TOKEN}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${TOKEN}`,
        'x-upstream-report': '1',
      },
      body: JSON.stringify({ query, variables }),
    }),
  );
  const text = await response.text();
  return {
    errors: text.includes('"errors"') ? 1 : 0,
    text: `${JSON.stringify([...response.headers])}${text}`,
  };
}

const FILES = [
  `/tasks/${TOKEN}/result.json?signature=${SIGNATURE}`,
  `/signed/1.${SIGNATURE}/tasks/${TOKEN}/result.json`,
  `/signed/1.${SIGNATURE}/structures/${HASH}.pdb`,
  `/thumbnails/${HASH}/plddt.png?token=${TOKEN}`,
  `/structures/${HASH}.pdb`,
  `/structures/${SEQUENCE}.pdb`,
  `/bulk/${SEQUENCE}/0.zip`,
  `/${SEQUENCE}?token=${TOKEN}`,
];

describe('secrets', () => {
  it.each(Object.keys(TROUBLES))('stay out of every answer when the upstream gives %s', async (name) => {
    trouble = TROUBLES[name] ?? (() => ({ status: 500, body: '' }));
    let errors = 0;
    for (const [query, variables] of OPERATIONS) {
      const seen = await run(query, variables);
      errors += seen.errors;
      expect(leaksIn(seen.text, SECRETS), `${query} ${seen.text}`).toEqual([]);
    }
    // The failures did happen: of the operations, only the one that needs no upstream may answer
    // without an error.
    expect(errors).toBeGreaterThanOrEqual(OPERATIONS.length - 3);
    for (const path of FILES) {
      const response = await gateway.fetch(
        new Request(`http://gateway.test${path}`, { headers: { authorization: `Bearer ${TOKEN}` } }),
      );
      const body = await response.text();
      // The body of a 200 is the file itself.
      const text = `${JSON.stringify([...response.headers])}${response.status === 200 ? '' : body}`;
      expect(leaksIn(text, SECRETS), path).toEqual([]);
    }
  });

  it('stay out of the log at every level, the metrics and the traces', async () => {
    await tracing.close();
    const log = lines.join('');
    for (const kind of ['"message":"upstream"', '"message":"request"']) expect(log).toContain(kind);
    expect(leaksIn(log, SECRETS)).toEqual([]);
    const metrics = await gateway.metrics.text();
    expect(metrics).toContain('foldatlas_upstream_calls_total{operation="protein"');
    expect(leaksIn(metrics, SECRETS)).toEqual([]);
    expect(collector.spans.length).toBeGreaterThan(50);
    expect(leaksIn(collector.text(), SECRETS)).toEqual([]);
  });

  it('are taken out of texts that quote them, whatever the form', () => {
    for (const text of [
      `GET ${SIGNED} failed`,
      `files.example.org/x.json?expires=1&signature=${SIGNATURE} has expired`,
      `GET /signed/1.${SIGNATURE}/tasks/x/result.json failed`,
      `authorization: Bearer ${TOKEN}`,
      `{"authorization":"Bearer ${TOKEN}","sequence":"${SEQUENCE}"}`,
      `token=${TOKEN}&x=1`,
      `no such key: ${TOKEN}`,
      `>sp|P1\n${SEQUENCE}\n${SEQUENCE}`,
      SEQUENCE.toLowerCase(),
    ]) {
      expect(leaksIn(redact(text, TOKEN), [...SECRETS, SEQUENCE.toLowerCase()]), text).toEqual([]);
    }
    const plain = `Hash ${HASH} is unknown; try again in 5 s (UPSTREAM_UNAVAILABLE).`;
    expect(redact(plain)).toBe(plain);
  });

  it('are found in a text, also within longer words', () => {
    const [one, two] = ['0f'.repeat(32), 'ab'.repeat(32)] as const;
    const secrets = [one, two, TOKEN];
    expect(leaksIn('f'.repeat(64), secrets)).toEqual([]);
    expect(leaksIn(`at ${one}.`, secrets)).toEqual([one.slice(0, 60)]);
    expect(leaksIn(`x${two}0${one}`, secrets)).toEqual([two.slice(0, 60), one.slice(0, 60)]);
    expect(leaksIn(`x${TOKEN}y`, secrets)).toEqual([TOKEN.slice(0, 60)]);
  });
});
