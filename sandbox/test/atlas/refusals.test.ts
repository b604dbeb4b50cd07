// Thousands of mutated requests: each gets an answer with a meaning, in the shape of its status;
// none is a 500, hangs, or leaves a trace in the state database.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectLinear, GROWTH } from '../../../test/cpu-time.ts';
import { runs } from '../../../test/property-runs.ts';
import { allHashes, PREFIX, smallUniverse, startAtlas } from './harness.ts';
import * as wire from './wire.ts';

const HBA = smallUniverse.uniprot('P69905')?.hash ?? '';
const SEQUENCE = smallUniverse.uniprot('P01308')?.sequence ?? '';
// Nothing here may fold: these four are ready or too long already.
const steady = allHashes
  .filter((hash) => ['ready', 'never'].includes(smallUniverse.protein(hash)?.fold ?? ''))
  .slice(0, 4);

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    'null',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e9',
    '0x10',
    '1.5',
    '5.0',
    '-1',
    '+7',
    '101',
    '99999999999999999999',
    'true',
    'TRUE',
    'yes',
    '[]',
    '{}',
    '%',
    '%zz',
    '../../..',
    '\u0000',
    '💥',
    "' OR 1=1 --",
    'x'.repeat(5000),
  ),
  fc.integer().map(String),
  fc.double().map(String),
);
const hashLike = fc.oneof(
  fc.constantFrom(HBA, ...steady),
  odd,
  fc.stringMatching(/^[0-9a-f]{30,34}$/),
  fc.constant(HBA.toUpperCase()),
);
const name = fc.constantFrom(
  'topk_features',
  'normalize_features',
  'feature_indices',
  'topk_results',
  'min_similarity',
  'cluster_pct_characterized_max',
  'include_cluster_info',
  'sequence',
  'surprise',
);
const query = fc
  .array(fc.tuple(name, fc.oneof(odd, fc.constant(SEQUENCE))), { maxLength: 6 })
  .map((pairs) => new URLSearchParams(pairs).toString());
const path = fc.oneof(
  hashLike.map((hash) => `/proteins/${encodeURIComponent(hash)}`),
  hashLike.map((hash) => `/clusters/${encodeURIComponent(hash)}`),
  fc
    .tuple(hashLike, odd)
    .map(([hash, type]) => `/proteins/${encodeURIComponent(hash)}/thumbnail/${encodeURIComponent(type)}`),
  odd.map((id) => `/uniprot/${encodeURIComponent(id)}`),
  odd.map((index) => `/features/${encodeURIComponent(index)}`),
  odd.map((id) => `/proteins/batch/jobs/${encodeURIComponent(id)}`),
  odd.map((id) => `/proteins/${id.replace(/[^\w%./]/gu, '')}`),
  fc.constant('/similarity-search'),
);

async function judge(answer: Response): Promise<number> {
  const body = answer.status === 200 ? '' : await answer.text();
  if (answer.status === 422) wire.validation.parse(JSON.parse(body));
  else if (answer.status === 202) wire.jobHandle.parse(JSON.parse(body));
  else if (answer.status !== 200) wire.refusal.parse(JSON.parse(body));
  else await answer.arrayBuffer();
  expect([200, 202, 400, 404, 405, 422]).toContain(answer.status);
  return answer.status;
}

const countTraces = (atlas: ReturnType<typeof startAtlas>) =>
  ['atlas_job', 'atlas_job_piece', 'atlas_folded'].map(
    (table) => atlas.database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n,
  );

test('mutated paths and queries', async () => {
  const atlas = startAtlas();
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(path, query, async (where, what) => {
      // Dots in a path can lead out of the Atlas.
      fc.pre(new URL(PREFIX + where, 'http://any').pathname.startsWith(`${PREFIX}/`));
      const status = await judge(await atlas.get(`${where}?fold_on_miss=false&${what}`));
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }),
    {
      numRuns: runs(300),
      examples: [
        ['/similarity-search', `sequence=${SEQUENCE}&topk_results=3`],
        [`/proteins/${HBA}`, ''],
        ['/uniprot/NP_000198', ''],
      ],
    },
  );
  expect([...seen.keys()].sort()).toEqual([200, 400, 404, 422]);
  expect(countTraces(atlas)).toEqual([0, 0, 0]);
});

test('mutated bulk bodies', async () => {
  const atlas = startAtlas();
  const field = fc.constantFrom(
    'protein_hashes',
    'topk_features',
    'include_structure',
    'include_cluster_info',
    'include_sequence',
    'include_features',
    'surprise',
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.array(hashLike, { maxLength: 4 }),
    fc.boolean(),
    odd,
    fc.record({ protein_level: fc.jsonValue(), per_residue: fc.jsonValue() }, { requiredKeys: [] }),
  );
  const sound = {
    protein_hashes: [HBA, ...steady],
    topk_features: 3,
    include_structure: false,
    include_features: false,
  };
  const body = fc
    .array(fc.tuple(field, value), { maxLength: 3 })
    .map((changes) => JSON.stringify({ ...sound, ...Object.fromEntries(changes) }));
  const broken = fc.oneof(
    fc.jsonValue().map((any) => JSON.stringify(any)),
    fc.tuple(body, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
    fc
      .tuple(body, fc.nat(), fc.string({ maxLength: 3 }))
      .map(([text, at, junk]) => text.slice(0, at % text.length) + junk + text.slice((at % text.length) + 1)),
    fc.string({ unit: 'binary' }),
  );
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.oneof(body, broken), async (text) => {
      seen.add(await judge(await atlas.bulk(text)));
    }),
    { numRuns: runs(300) },
  );
  expect([...seen].sort()).toEqual([200, 422]);
  expect(countTraces(atlas)).toEqual([0, 0, 0]);
});

test('each problem is told where it is, and all at once', async () => {
  const atlas = startAtlas();
  const answer = await atlas.bulk({
    protein_hashes: [HBA, 7, 'nope'],
    topk_features: 0,
    include_structure: 'perhaps',
    include_sequence: null,
    include_features: { per_residue: [] },
  });
  const { detail } = wire.validation.parse(await answer.json());
  expect(detail.map(({ loc, type }) => [loc.join('.'), type]).sort()).toEqual([
    ['body.include_features.per_residue', 'bool_type'],
    ['body.include_sequence', 'bool_type'],
    ['body.include_structure', 'bool_parsing'],
    ['body.protein_hashes.1', 'string_type'],
    ['body.protein_hashes.2', 'string_pattern_mismatch'],
    ['body.topk_features', 'greater_than_equal'],
  ]);
});

/**
 * Bodies for the bulk look-up of a size that depends on `part`: 1 or an eighth. Texts and lists
 * stay below the size from which V8 gives each its own pages, which takes longer.
 */
const hostileBodies: [name: string, make: (part: number) => string, status: number][] = [
  ['a deep nest', (part) => deep(200_000 * part), 422],
  ['a deep nest in a field', (part) => `{"protein_hashes":${deep(200_000 * part)}}`, 422],
  ['a long hash', (part) => `{"protein_hashes":["${'a'.repeat(100_000 * part)}"]}`, 422],
  ['bad hashes', (part) => JSON.stringify({ protein_hashes: Array(4_000 * part).fill('bad') }), 422],
  ['numbers for hashes', (part) => JSON.stringify({ protein_hashes: [...Array(4_000 * part).keys()] }), 422],
  ['the key of a prototype', () => '{"__proto__":{"protein_hashes":[]}}', 422],
  ['a body that is too large', (part) => ' '.repeat(2 ** 20 * part + 1), 413],
];
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test.each(hostileBodies)('%s is refused in linear time', async (_, make, status) => {
  const atlas = startAtlas();
  const [small, large] = [make(1 / GROWTH), make(1)];
  const answer = await atlas.bulk(large);
  expect(answer.status).toBe(status);
  expect((await answer.text()).length).toBeLessThan(100_000);
  const ask = (body: string) => async () => (await atlas.bulk(body)).text();
  await expectLinear(ask(small), ask(large));
});

test('an answer that is not read to its end stops being made', async () => {
  const atlas = startAtlas();
  const answer = await atlas.bulk({ protein_hashes: allHashes.slice(0, 100) });
  const reader = answer.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect((await atlas.request(`${PREFIX}/proteins/${HBA}?fold_on_miss=false`)).status).toBe(200);
});
