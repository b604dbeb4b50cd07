// Clusters and their members in an archive, odd and broken files included.
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { readBulkArchive } from '../../src/upstream/archive/bulk.ts';
import { readFields } from '../../src/upstream/json/plain-values.ts';
import { clusterInfo } from '../../src/upstream/wire.ts';

/** Reads the text of a member. */
async function read(text: string) {
  const zip = zipSync({ 'cluster_info.json': strToU8(text) });
  const { clusters, representatives, problems } = await readBulkArchive(zip);
  const failures = problems.map(({ message }) => message);
  return { clusters, representatives, failures };
}

const A = 'b840eb6446f9f188023424af40675a36';
const B = 'c0ae9fc7d453b0dd525d0edf00000064';

test('a record that is whole, and who belongs to it', async () => {
  const text = `{"clusters":{"${A}":{"cluster_size":2,"protein_name":"β \\"chain\\"","ptm":NaN}},"proteins":{"${A}":"${A}","${B}":null}}`;
  expect(await read(text)).toMatchObject({
    clusters: new Map([[A, { cluster_size: 2, protein_name: 'β "chain"', ptm: null }]]),
    representatives: new Map([[A, A]]),
    failures: [],
  });
});

test.each([
  '[]',
  'null',
  '{}',
  '{"clusters":{}}',
  '{"clusters":[1]}',
  '{"clusters":null,"proteins":null}',
])('reads nothing where nothing is said: %s', async (text) => {
  expect(await read(text)).toMatchObject({
    clusters: new Map(),
    representatives: new Map(),
    failures: [],
  });
});

test.each([
  '',
  '{"clusters":{},"proteins":{},}',
  '{"clusters":{},"proteins":{}} x',
  '{"clusters":{"a":{"b":1,}},"proteins":{}}',
  '{"clusters":{"a" {}},"proteins":{}}',
  '{"clusters":{"a":tru},"proteins":{}}',
  '{"clusters":{"a":{"b":"c}},"proteins":{}}',
])('reports a member that is no JSON as its problem: %s', async (text) => {
  const { clusters, failures } = await read(text);
  expect(clusters).toEqual(new Map());
  expect(failures).toEqual(['The JSON is not valid, or ends too early. (cluster_info.json)']);
});

test('takes the later of two members with one name, and reads hashes as they are written elsewhere', async () => {
  expect(await read('{"clusters":{"a":1,"a":2},"proteins":{"p":"a","p":null}}')).toMatchObject({
    clusters: new Map([['a', 2]]),
    representatives: new Map(),
  });
  expect(
    await read(
      `{ "clusters" : { " A " : -Infinity } , "proteins" : { "__proto__" : "${'B'.repeat(32)}" } }\n`,
    ),
  ).toMatchObject({
    clusters: new Map([['a', null]]),
    representatives: new Map([['__proto__', 'b'.repeat(32)]]),
  });
});

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    ' a ',
    'a',
    'a\u0000',
    -1,
    0,
    0.5,
    1,
    1.5,
    77,
    101,
    2 ** 31,
    true,
    [],
    {},
  ),
  fc.double(),
  fc.string(),
  fc.jsonValue(),
);
const domain = fc.oneof(
  odd,
  fc.record({ name: odd, count: fc.oneof(odd, fc.nat()), more: odd }, { requiredKeys: [] }),
);
const clusterRecord = fc.record(
  {
    cluster_size: fc.oneof(odd, fc.nat()),
    cluster_pct_characterized: odd,
    cluster_mean_domain_coverage: odd,
    cluster_top_pfam_domains: fc.oneof(odd, fc.dictionary(fc.string(), domain)),
    protein_name: odd,
    source: odd,
    accession: odd,
    cluster_taxonomy_info: fc.oneof(
      odd,
      fc.record({ rank: odd, name: odd, more: odd }, { requiredKeys: [] }),
    ),
    top_phyla: fc.oneof(odd, fc.dictionary(fc.string(), fc.oneof(odd, fc.nat()))),
    mean_plddt: odd,
    ptm: odd,
    protein_hash: odd,
  },
  { requiredKeys: [] },
);

test('the tests by hand read of a cluster exactly what the schema reads', () => {
  fc.assert(
    fc.property(clusterRecord, (record: Record<string, unknown>) => {
      const byField = Object.entries(clusterInfo.shape).map(([name, schema]) => [
        name,
        schema.safeParse(record[name]).data,
      ]);
      expect(readFields(clusterInfo, record)).toEqual(Object.fromEntries(byField));
    }),
  );
});
