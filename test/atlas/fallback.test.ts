// An upstream whose archives lack what the service may leave out, are scaled otherwise, or come damaged: what is missing is
// asked of the single record, what cannot be had is an error at its place, what was whole is answered.
import { createServer, type Server } from 'node:http';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt } from '../support.ts';
import { reached } from '../through.ts';

const A = 'efebacde779fb9ede77f2039ec6cfe09';
const B = 'cd9050995bb3aa9f42ca5d1eedd10b2d';
const C = 'a3f8ce0b95a063d65d4bf0361992c7f5';

const FASTA = `>${A}|P1|uniprotkb\nMKVA\n>${B}|P2|mgy\nMENTS\n`;
const feature = (value: number) => ({ feature_index: 3, value, label: 'three' });
const features = (scale: number) => ({
  protein_level: { shape: [16384], indices: [[3, 9]], values: [1.5 * scale, 0.5 * scale] },
  top_features: [feature(1.5), { feature_index: 9, value: 0.5, label: 'nine' }],
});
const catalogue = { data: [3, 9, 12].map((index) => ({ feature_index: index, label: `f${index}` })) };

let archive: Uint8Array;
let calls: string[];
let server: Server;
let gateway: Gateway;

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://upstream.test');
    const name = url.pathname.replace('/atlas/protein/api/v1alpha1', '');
    const json = (body: unknown) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    };
    calls.push(`${request.method} ${name}`);
    request.resume();
    if (name === '/proteins/batch') {
      response.setHeader('content-type', 'application/zip').end(archive);
    } else if (name === '/features') json(catalogue);
    else if (name.startsWith('/proteins/')) {
      const indices = url.searchParams.getAll('feature_indices').map(Number);
      const chosen = indices
        .filter((index) => index < 16_384)
        .map((index) => ({ ...feature(index === 3 ? 1.5 : 0), feature_index: index }));
      json({
        protein_hash: name.slice(10),
        sequence: name.endsWith(A) ? 'MKVA' : 'MENTS',
        cluster_rep_protein_hash: C,
        sae_features: indices.length === 0 ? [feature(1.5)] : chosen,
      });
    } else response.writeHead(404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  gateway = reached(
    createGateway({
      config: readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent', CACHE_RECORDS_SECONDS: '0' }),
      upstreamUrl: `http://127.0.0.1:${address.port}`,
      log: testLogger(),
    }),
  );
});
afterAll(async () => {
  await gateway.close();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  calls = [];
});

async function ask(fields: string): Promise<Answer> {
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ proteins(hashes: ["${A}", "${B}"]) { ${fields} } }` }),
    }),
  );
  return (await response.json()) as Answer;
}

const zip = (members: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])));

describe('archives without optional members', () => {
  it('have what they lack filled in from single records, once', async () => {
    archive = zip({ 'sequences.fasta': FASTA });
    const { data, errors } = await ask(
      'sequence a: features(top: 1) { value } b: features(top: 1) { value } cluster { representativeHash }',
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins').map((protein) => at(protein, 'cluster.representativeHash'))).toEqual([
      C,
      C,
    ]);
    expect(at(data, 'proteins.0.a')).toEqual([{ value: 1.5 }]);
    expect(calls.sort()).toEqual([`GET /proteins/${B}`, `GET /proteins/${A}`, 'POST /proteins/batch'].sort());
  });

  it('say of proteins that they do not exist only when they are whole', async () => {
    archive = zip({ 'sequences.fasta': FASTA.slice(0, FASTA.indexOf(`>${B}`)) });
    const { data, errors } = await ask('sequence');
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins')).toEqual([{ sequence: 'MKVA' }, null]);
  });
});

describe('activations of all features', () => {
  const INDICES = 'features(indices: [9, 3, 12, 70]) { value }';
  it('stand for chosen ones where they repeat the ranking', async () => {
    archive = zip({
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: features(1), [B]: features(1) }),
    });
    const { data, errors } = await ask(INDICES);
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins.1.features')).toEqual([{ value: 0.5 }, { value: 1.5 }, { value: 0 }, null]);
    expect(calls.sort()).toEqual(['GET /features', 'POST /proteins/batch']);
  });

  it('are not trusted on another scale: single records are asked', async () => {
    archive = zip({
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: features(1), [B]: features(20) }),
    });
    const { data, errors } = await ask(INDICES);
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins.0.features.1')).toEqual({ value: 1.5 });
    expect(at(data, 'proteins.1.features.1')).toEqual({ value: 1.5 });
    expect(calls.filter((call) => call === `GET /proteins/${B}`)).toHaveLength(1);
    expect(calls).not.toContain(`GET /proteins/${A}`);
  });
});

describe('a damaged archive', () => {
  it('gives what is whole, and asks single records for what was lost', async () => {
    const whole = zip({
      'sequences.fasta': FASTA,
      'features.json': JSON.stringify({ [A]: features(1), [B]: features(1) }),
    });
    archive = whole.subarray(0, whole.indexOf(0x66, 200) + 60);
    const { data, errors } = await ask('sequence features(top: 1) { value }');
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins').map((protein) => at(protein, 'sequence'))).toEqual(['MKVA', 'MENTS']);
    expect(at(data, 'proteins.1.features')).toEqual([{ value: 1.5 }]);
  });

  it('that holds nothing whole is an error at every protein, not an absence', async () => {
    archive = zip({ 'sequences.fasta': FASTA }).subarray(0, 40);
    const { data, errors } = await ask('sequence');
    expect(at(data, 'proteins')).toEqual([null, null]);
    expect(errors).toHaveLength(2);
  });
});
