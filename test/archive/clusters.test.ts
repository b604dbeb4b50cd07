// What an archive says of clusters is read record by record where nobody looks at the whole: it must come to the same as the whole parsed at
// once, errors included.
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { readBulkArchive } from '../../src/upstream/archive/bulk.ts';
import type { BulkOptions } from '../../src/upstream/archive/bulk-stream.ts';

async function* arriving(bytes: Uint8Array) {
  yield bytes;
}

const sorted = <T>(map: ReadonlyMap<string, T>) => new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));

/** What is read of a member's text. */
async function said(text: string, options: BulkOptions) {
  const zip = zipSync({ 'cluster_info.json': strToU8(text) });
  const { clusters, clusterOf, members, problems } = await readBulkArchive(arriving(zip), options);
  const failures = problems.map(({ code, message, entry }) => ({ code, message, entry }));
  return {
    clusters: sorted(clusters),
    clusterOf: sorted(clusterOf),
    members,
    failures,
  };
}

/** Expects the same of both ways. @returns what it is */
async function both(text: string) {
  const shown: unknown[] = [];
  const whole = await said(text, { onAnswer: (_, value) => shown.push(value), looksAt: () => true });
  const oneByOne = await said(text, { onAnswer: (_, value) => shown.push(value), looksAt: () => false });
  expect(oneByOne).toEqual(whole);
  return whole;
}

const A = 'b840eb6446f9f188023424af40675a36';
const B = 'c0ae9fc7d453b0dd525d0edf00000064';

test('a record that is whole, and who belongs to it', async () => {
  const text = `{"clusters":{"${A}":{"cluster_size":2,"protein_name":"β \\"chain\\"","ptm":NaN}},"proteins":{"${A}":"${A}","${B}":null}}`;
  expect(await both(text)).toMatchObject({
    clusters: new Map([[A, { cluster_size: 2, protein_name: 'β "chain"', ptm: null }]]),
    clusterOf: new Map([[A, A]]),
    failures: [],
  });
});

test('whoever watches for drift is shown the whole, and nobody else is', async () => {
  const shown: unknown[] = [];
  const file = { clusters: { [A]: { cluster_size: 2 } }, proteins: { [B]: A } };
  const onAnswer = (name: string, value: unknown) => void shown.push([name, value]);
  for (const looksAt of [() => true, undefined, () => false])
    await said(JSON.stringify(file), { onAnswer, looksAt });
  expect(shown).toEqual([
    ['clusterInfo', file],
    ['clusterInfo', file],
  ]);
});

test.each([
  '',
  '[]',
  'null',
  '{}',
  '{"clusters":{}}',
  '{"proteins":{}}',
  '{"clusters":{},"proteins":{}}',
  '{"clusters":{},"proteins":{},}',
  '{"clusters":{},"proteins":{}} x',
  '{"clusters":null,"proteins":null}',
  '{"clusters":[1],"proteins":["x"]}',
  '{"clusters":{"a":1,"a":2},"proteins":{"p":"a","p":null}}',
  '{"clusters":{"a":1},"clusters":{"b":2},"proteins":{}}',
  '{"proteins":{"p":"\\u0061"},"clusters":{"\\u0061":{}},"more":[1]}',
  '{"clusters":{"a":{"b":1,}},"proteins":{}}',
  '{"clusters":{"a":{},},"proteins":{}}',
  '{"clusters":{"a":{"toString":1,"__proto__":2},"b":{"toString":1}},"proteins":{}}',
  '{"clusters":{"a" {}},"proteins":{}}',
  '{"clusters":{"a":},"proteins":{}}',
  '{"clusters":{"a":tru},"proteins":{}}',
  '{"clusters":{"a":{"b":"c}},"proteins":{}}',
  '\ufeff{ "clusters" : { " A " : -Infinity } , "proteins" : { "__proto__" : "B" } }\n',
])('what is odd or broken: %s', async (text) => {
  await both(text);
});

test('any JSON, and what is left of it when it is cut or a character is another', async () => {
  const key = fc.oneof(fc.stringMatching(/^[0-9a-f]{32}$/), fc.string({ maxLength: 4 }));
  const file = fc.record(
    {
      clusters: fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
      proteins: fc.dictionary(key, fc.oneof(key, fc.constant(null), fc.jsonValue({ maxDepth: 1 })), {
        maxKeys: 4,
      }),
      more: fc.jsonValue({ maxDepth: 1 }),
    },
    { requiredKeys: [] },
  );
  const harm = fc.option(fc.tuple(fc.nat(), fc.constantFrom('', '"', '{', '}', ':', ',', '\\', ' ', '1')), {
    nil: undefined,
  });
  await fc.assert(
    fc.asyncProperty(file, fc.constantFrom(0, 1), harm, async (value, indent, harmed) => {
      const text = JSON.stringify(value, undefined, indent);
      const at = harmed === undefined ? 0 : harmed[0] % text.length;
      await both(harmed === undefined ? text : text.slice(0, at) + harmed[1] + text.slice(at + 1));
    }),
    { numRuns: 400 },
  );
});
