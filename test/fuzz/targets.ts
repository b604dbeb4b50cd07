// What is fuzzed, each target a property of random input: fast-check makes the input from a seed, so that the same seed tries the same
// again. A target says what may never happen, whatever is sent.
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { schema } from '../../src/schema.ts';
import { ArchiveError } from '../../src/upstream/archive/archive-error.ts';
import { readBulkRecords } from '../../src/upstream/archive/bulk-stream.ts';
import { ask } from '../live/support.ts';
import { documentOf } from './documents.ts';
import { sendRaw, statusesIn } from './raw-http.ts';
import type { FuzzWorld } from './world.ts';

export type Target = (world: FuzzWorld) => fc.IAsyncProperty<unknown[]>;

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const AUTH = { authorization: 'Bearer fuzz' };

const never = (what: string, detail: unknown): never => {
  throw new Error(`${what}: ${JSON.stringify(detail)?.slice(0, 600)}`);
};

/** Every error of ours has a code, and none of them says that we are at fault. */
function checkErrors(answer: { errors?: { extensions?: Record<string, unknown> }[] }): void {
  for (const error of answer.errors ?? []) {
    const code = error.extensions?.code;
    if (typeof code !== 'string' || code === 'INTERNAL_SERVER_ERROR') never('an error of ours', error);
  }
}

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
const choices = fc.array(fc.nat(997), { minLength: 8, maxLength: 160 });

/** Changes of bytes: position, what is put there, how many bytes it replaces. */
const edits: fc.Arbitrary<[number, Uint8Array, number][]> = fc.array(
  fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 6 }), fc.nat(4)),
  { maxLength: 6 },
);
function edited(bytes: Uint8Array, changes: [number, Uint8Array, number][]): Uint8Array {
  let all = bytes;
  for (const [where, put, replaced] of changes) {
    const at = where % (all.length + 1);
    all = Buffer.concat([all.subarray(0, at), put, all.subarray(at + replaced)]);
  }
  return all;
}

// (a) Requests that are nearly HTTP, over a socket.
const http: Target = ({ served }) => {
  const port = Number(new URL(served.url).port);
  const method = fc.oneof(
    fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'TRACE', 'get', 'QUERY'),
    text,
  );
  const path = fc.oneof(
    fc.constantFrom(
      '/',
      '/graphql',
      '/graphql?query={__typename}',
      '//',
      '*',
      '/health',
      `/structures/${HASH}.cif`,
    ),
    fc.webUrl(),
    text,
  );
  const header = fc.tuple(
    fc.oneof(
      fc.constantFrom(
        'host',
        'content-type',
        'accept',
        'content-length',
        'transfer-encoding',
        'upgrade',
        'expect',
      ),
      text,
    ),
    fc.oneof(
      fc.constantFrom(
        'application/json',
        '*/*',
        '0',
        '-1',
        '5',
        'chunked',
        'gzip',
        'websocket',
        '100-continue',
        'x',
      ),
      text,
    ),
  );
  const body = fc.oneof(fc.constantFrom('{"query":"{__typename}"}', '{', '[]', 'null', ''), fc.json(), text);
  const chunk = (part: string, size: string) => `${size}\r\n${part}\r\n`;
  return fc.asyncProperty(
    method,
    path,
    fc.array(header, { maxLength: 6 }),
    body,
    fc.constantFrom('length', 'chunked', 'bad chunks', 'none'),
    edits,
    async (verb, target, headers, content, form, changes) => {
      const bytes = Buffer.from(content);
      const size = bytes.length.toString(16);
      const [more, sent] =
        form === 'length'
          ? [`content-length: ${bytes.length}\r\n`, content]
          : form === 'none'
            ? ['', content]
            : [
                'transfer-encoding: chunked\r\n',
                chunk(content, form === 'chunked' ? size : `${size}z;`) + chunk('', '0'),
              ];
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const all = `${verb} ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${lines}${more}\r\n${sent}`;
      const statuses = statusesIn(await sendRaw(port, edited(Buffer.from(all), changes)));
      if (statuses.some((status) => status >= 500)) never('an answer that blames us', statuses);
      const health = await fetch(new URL('/health', served.url));
      if (health.status !== 200) never('not alive any more', health.status);
      await health.arrayBuffer();
    },
  );
};

// (b) Routes of files, with any segments and headers.
const files: Target = ({ gateway }) => {
  const segment = fc.oneof(
    fc.constantFrom(
      HASH,
      'plddt',
      'pct_characterized',
      '..',
      '%2e%2e',
      '%00',
      '%ff',
      'structure.cif',
      'x-00000',
    ),
    text.map(encodeURIComponent.bind(undefined)),
    text,
  );
  const shape = fc.constantFrom(
    (a: string, b: string) => `/thumbnails/${a}/${b}.png`,
    (a: string, b: string) => `/structures/${a}.${b}`,
    (a: string) => `/structures/${a}.pdb`,
    (a: string, b: string) => `/tasks/${a}/${b}`,
    (a: string) => `/tasks/${a}/result.json`,
    (a: string, b: string) => `/bulk/${a}/${b}.zip`,
    (a: string, b: string) => `/${a}/${b}`,
    (a: string) => `/schema/${a}`,
    (a: string) => `/docs/${a}`,
  );
  const header = fc.tuple(
    fc.constantFrom(
      'range',
      'if-none-match',
      'if-range',
      'accept',
      'traceparent',
      'x-request-id',
      'origin',
      'if-modified-since',
    ),
    fc.oneof(
      fc.constantFrom('bytes=0-', 'bytes=9-1', 'bytes=-0', '*', 'W/"x"', 'null', '00-0-0-0'),
      fc.string(),
    ),
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS');
  return fc.asyncProperty(
    shape,
    segment,
    segment,
    fc.array(header, { maxLength: 3 }),
    method,
    async (path, one, two, headers, verb) => {
      let request: Request;
      try {
        const all = new Headers([...headers.map(([name, value]): [string, string] => [name, value])]);
        all.set('authorization', AUTH.authorization);
        request = new Request(`http://gateway.test${path(one, two)}`, { method: verb, headers: all });
      } catch {
        // No client can send that.
        return;
      }
      const answer = await gateway.fetch(request);
      await answer.arrayBuffer();
      if (answer.status >= 500)
        never('an answer that blames us', [verb, request.url, headers, answer.status]);
    },
  );
};

// (c) Documents that the schema allows.
const documents: Target = ({ gateway }) =>
  fc.asyncProperty(choices, async (made) => {
    const query = documentOf(schema, made);
    const answer = await ask(gateway, query, {}, AUTH);
    try {
      checkErrors(answer);
    } catch (error) {
      throw new Error(`${query}\n${error instanceof Error ? error.message : String(error)}`);
    }
  });

// (d) Damaged archives.
const ARCHIVE = zipSync({
  [`structures/${HASH}.pdb`]: strToU8(
    'REMARK ptm 0.8\nATOM      1  CA  MET A   1      11.104   6.134  -6.504  1.00  0.90           C  ',
  ),
  'sequences.fasta': strToU8(`>${HASH}|P01308|uniprotkb\nGIVEQCC\n`),
  'cluster_info.json': strToU8(
    `{"clusters":{"${HASH}":{"cluster_size":4}},"proteins":{"${HASH}":"${HASH}"}}`,
  ),
  'features.json': strToU8(
    `{"${HASH}":{"protein_level":{"indices":[3,70],"values":[1.5,0.25],"shape":[16384]},"top_features":[]}}`,
  ),
});
const archives: Target = () =>
  fc.asyncProperty(edits, fc.integer({ min: 1, max: 300 }), fc.nat(3), async (changes, piece, cut) => {
    const damaged = edited(ARCHIVE, changes);
    const bytes = cut === 0 ? damaged.subarray(0, Math.floor(damaged.length / 2)) : damaged;
    async function* arriving() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    }
    for await (const record of readBulkRecords(arriving())) {
      if (record.part === 'problem' && !(record.problem instanceof ArchiveError))
        never('a problem without a kind', String(record.problem));
    }
  });

// (e) Answers of the upstream, changed in one place.
const READS = [
  `{ protein(hash: "${HASH}") { hash name sequence length ptm plddt { mean values bands { name fraction } } structure { text } features(top: 3) { value feature { label description } } cluster { size name taxonomy { rank name } pfamDomains { id count } phyla { name count } memberHashes } thumbnail { base64 } raw } }`,
  `{ uniprotEntry(id: "P01308") { accession name gene organism sequence length protein { hash cluster { size } } raw } }`,
  `{ proteins(hashes: ["${HASH}", "efebacde779fb9ede77f2039ec6cfe09"]) { hash name length plddt { mean } features { value regions { start end peak } } cluster { size } } }`,
  `{ similarProteins(sequence: "GIVEQCCTSICSLYQLENYCN") { queryHash restrictedCount hits { score protein { hash } cluster { size } } sharedFeatures { occurrences feature { label } } } }`,
  `{ feature(index: 3) { label description threshold uniref90 { frequency idf } topProteins { accession activation } nearestNeighbors { label } raw } }`,
  `{ cluster(hash: "${HASH}") { size meanPlddt features { value } members(first: 3) { totalCount nodes { hash name } } raw } }`,
  '{ batch(batchId: "b") { state counts { total } tasks { nodes { state result { scores { ptm } } } } } }',
  'mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "GIVEQCC" } }] }] }) { __typename ... on FoldSubmitted { batch { batchId counts { total } tasks { nodes { taskId } } } } } }',
];
const oddity = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    'x',
    -1,
    1e300,
    0.5,
    true,
    [],
    {},
    [null],
    [[1]],
    { '': 0 },
    'x'.repeat(2000),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
type Step = { readonly kind: 'put' | 'drop' | 'double'; readonly value: unknown };

/** Changes one place of a value, which the numbers lead to. */
function changed(value: unknown, way: readonly number[], step: Step): unknown {
  const [first, ...rest] = way;
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (first === undefined || keys.length === 0) return step.value;
  const key = keys[first % keys.length] ?? '';
  const inner: unknown = Reflect.get(Object(value), key);
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    const at = Number(key);
    if (isLast && step.kind === 'drop') return value.toSpliced(at, 1);
    if (isLast && step.kind === 'double') return value.toSpliced(at, 0, inner);
    return value.with(at, changed(inner, rest, step));
  }
  if (isLast && step.kind === 'drop')
    return Object.fromEntries(Object.entries(Object(value)).filter(([name]) => name !== key));
  return { ...Object(value), [key]: changed(inner, rest, step) };
}

const upstream: Target = ({ lied, proxy }) =>
  fc.asyncProperty(
    fc.constantFrom(...READS),
    fc.array(fc.nat(50), { minLength: 1, maxLength: 6 }),
    fc.record({ kind: fc.constantFrom('put' as const, 'drop' as const, 'double' as const), value: oddity }),
    fc.option(edits, { freq: 4, nil: null }),
    async (query, way, step, bytes) => {
      proxy.change((answer) => {
        if (bytes !== null) answer.body = Buffer.from(edited(answer.body, bytes));
        else if (answer.type.includes('json') && answer.body.length > 0)
          answer.body = Buffer.from(
            JSON.stringify(changed(JSON.parse(answer.body.toString()), way, step)) ?? '',
          );
      });
      checkErrors(await ask(lied, query, {}, AUTH));
    },
  );

// (f) Whatever somebody may want to fold.
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const whole = fc.oneof(fc.integer({ min: -3, max: 40 }), fc.integer());
const letters = fc.oneof(fc.stringMatching(/^[ACDEFGHIKLMNPQRSTVWYacgu \n>*-]{0,60}$/), text);
const names = fc.oneof(fc.constantFrom('A', 'B', 'AA', ''), text);
const ids = maybe(fc.array(names, { maxLength: 3 }));
const polymer = fc.record({
  sequence: letters,
  ids,
  modifications: maybe(fc.array(fc.record({ position: whole, ccd: names }), { maxLength: 3 })),
});
const ligand = fc.record({
  ids,
  smiles: maybe(fc.oneof(fc.stringMatching(/^[CNOcnos()=#1-3@[\]+-]{0,20}$/), text)),
  ccd: maybe(fc.array(names, { maxLength: 2 })),
});
const chain = fc.oneof(
  fc.record({ protein: polymer }),
  fc.record({ rna: polymer }),
  fc.record({ dna: polymer }),
  fc.record({ ligand }),
);
const item = fc.record({
  name: maybe(text),
  chains: fc.array(chain, { maxLength: 4 }),
  covalentBonds: maybe(
    fc.array(
      fc.record({
        chainId1: names,
        resIdx1: whole,
        atomIdx1: whole,
        chainId2: names,
        resIdx2: whole,
        atomIdx2: whole,
      }),
      { maxLength: 2 },
    ),
  ),
  pocket: maybe(
    fc.record({
      binderChainId: names,
      contacts: fc.array(fc.record({ chainId: names, resIdx: whole }), { maxLength: 3 }),
    }),
  ),
  distogramConditioning: maybe(
    fc.array(
      fc.record({ chainId: names, distogram: fc.array(fc.array(whole, { maxLength: 3 }), { maxLength: 3 }) }),
      {
        maxLength: 2,
      },
    ),
  ),
  includePae: maybe(fc.boolean()),
});
const folds: Target = ({ gateway }) =>
  fc.asyncProperty(
    fc.record({
      items: fc.array(item, { maxLength: 3 }),
      repeat: maybe(whole),
      model: maybe(text),
      label: maybe(text),
      idempotencyKey: maybe(text),
    }),
    async (input) => {
      const query =
        'query($input: SubmitFoldInput!) { checkFold(input: $input) { __typename ok issues { path code message } } }';
      checkErrors(await ask(gateway, query, { input }));
    },
  );

export const TARGETS: Readonly<Record<string, Target>> = {
  http,
  files,
  documents,
  archives,
  upstream,
  folds,
};

/**
 * Tries a target with what a seed makes.
 *
 * @returns undefined when it held; else what broke it, shrunk, and how
 */
export async function tryTarget(
  world: FuzzWorld,
  name: string,
  seed: number,
  runs: number,
): Promise<string | undefined> {
  const target = TARGETS[name];
  if (target === undefined)
    throw new Error(`There is no target ${name}; there are ${Object.keys(TARGETS).join(', ')}.`);
  const details = await fc.check(target(world), { seed, numRuns: runs, endOnFailure: false });
  world.proxy.change(undefined);
  if (!details.failed) return undefined;
  const error = details.errorInstance;
  return `${name} seed ${seed}: ${fc.stringify(details.counterexample)}\n${error instanceof Error ? error.stack : String(error)}`;
}
