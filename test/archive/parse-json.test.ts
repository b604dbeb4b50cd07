import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MATRIX_BOUNDS, parseJson, parseJsonSync } from '../../src/upstream/json/parse-json.ts';
import { runInWorker } from '../../src/upstream/json/worker-pool.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Parses on this thread, and in another. */
const WAYS = [
  async (json: Uint8Array): Promise<unknown> => parseJsonSync(json, MATRIX_BOUNDS),
  (json: Uint8Array) => runInWorker('upstream/json/json-worker', json),
];

test('any JSON is the same value here and from the thread', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      const wanted: unknown = JSON.parse(text);
      for (const parse of WAYS) expect(await parse(bytes(text))).toEqual(wanted);
    }),
    { numRuns: 50 },
  );
});

test('a byte order mark is dropped', async () => {
  for (const parse of WAYS) expect(await parse(bytes('\ufeff{"a": "é"}'))).toEqual({ a: 'é' });
});

test('the words of Python are null, but not inside strings', async () => {
  const text = '{"a": NaN, "b": [-Infinity, Infinity], "NaN": "NaN, \\"Infinity\\" -Infinity"}';
  for (const parse of WAYS) {
    expect(await parse(bytes(text))).toEqual({
      a: null,
      b: [null, null],
      NaN: 'NaN, "Infinity" -Infinity',
    });
  }
});

test('many at once each get their own answer, failures too', async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 40 }, (_, k) =>
      runInWorker('upstream/json/json-worker', bytes(k % 5 === 0 ? `{"k": ${k}` : `{"k": ${k}}`)),
    ),
  );
  all.forEach((one, k) => {
    if (k % 5 === 0) expect(one).toMatchObject({ status: 'rejected', reason: { name: 'SyntaxError' } });
    else expect(one).toEqual({ status: 'fulfilled', value: { k } });
  });
});

test('a part of a larger buffer is read alone, and the caller keeps it', async () => {
  const text = JSON.stringify('x'.repeat(2_000_000));
  const large = Buffer.from(`x${text}x`);
  expect(await parseJson(large.subarray(1, -1))).toHaveLength(2_000_000);
  expect(large.toString()).toBe(`x${text}x`);
});

test('a value of many megabytes, with a word of Python behind it', async () => {
  const long = `${'ATOM line\\n'.repeat(400_000)}`;
  const read = await parseJson(bytes(`{"pdb": "${long}", "ptm": NaN}`));
  expect(read).toEqual({ pdb: 'ATOM line\n'.repeat(400_000), ptm: null });
});

test('the error of broken JSON says nothing of its text', async () => {
  for (const broken of ['["x" sesame]', '["sesame"', 'sesame', ''])
    for (const parse of WAYS) {
      const error: unknown = await parse(bytes(broken)).catch((e: unknown) => e);
      expect(error).toMatchObject({ name: 'SyntaxError' });
      expect(String(error)).not.toContain('sesame');
    }
});

test.each([
  ['[],', 'too many objects'],
  ['"a":1,', 'too many objects'],
  ['[', 'nested more than 500 levels'],
])('refuses more %s than any answer has before it parses them', async (part, reason) => {
  const json = bytes(`[${part.repeat(1_100_000)}0]`);
  await expect(parseJson(json)).rejects.toThrow(reason);
});
