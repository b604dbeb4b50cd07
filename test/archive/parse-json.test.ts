import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/upstream/json/parse-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('any JSON is the same value here and from the thread', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      const wanted: unknown = JSON.parse(text);
      expect(await parseJson(bytes(text))).toEqual(wanted);
      expect(await parseJson(bytes(text), { workerAboveBytes: 0 })).toEqual(wanted);
    }),
    { numRuns: 50 },
  );
});

test('the words of Python are null, but not inside strings', async () => {
  const text = '{"a": NaN, "b": [-Infinity, Infinity], "NaN": "NaN, \\"Infinity\\" -Infinity"}';
  for (const workerAboveBytes of [0, 1e6]) {
    expect(await parseJson(bytes(text), { workerAboveBytes })).toEqual({
      a: null,
      b: [null, null],
      NaN: 'NaN, "Infinity" -Infinity',
    });
  }
});

test('many at once each get their own answer, failures too', async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 40 }, (_, k) =>
      parseJson(bytes(k % 5 === 0 ? `{"k": ${k}` : `{"k": ${k}}`), { workerAboveBytes: 0 }),
    ),
  );
  all.forEach((one, k) => {
    if (k % 5 === 0) expect(one).toMatchObject({ status: 'rejected', reason: { name: 'JsonError' } });
    else expect(one).toEqual({ status: 'fulfilled', value: { k } });
  });
});

test('a part of a larger buffer is read alone, and the caller keeps it', async () => {
  const large = Buffer.from('xxxx[1,2]xxxx');
  const part = large.subarray(4, 9);
  expect(await parseJson(part, { workerAboveBytes: 0 })).toEqual([1, 2]);
  expect(large.toString()).toBe('xxxx[1,2]xxxx');
});

test('a value of many megabytes, with a word of Python behind it', async () => {
  const long = `${'ATOM line\\n'.repeat(400_000)}`;
  const read = await parseJson(bytes(`{"pdb": "${long}", "ptm": NaN}`));
  expect(read).toEqual({ pdb: 'ATOM line\n'.repeat(400_000), ptm: null });
});

test('the place of an error is where the text stops being JSON, whatever stood before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.constantFrom(undefined, 2), async (value, space) => {
      const text = JSON.stringify([value, 'x'], null, space);
      const broken = `${text.slice(0, -1)} sesame]`;
      const error: unknown = await parseJson(bytes(broken)).catch((e: unknown) => e);
      expect(error).toMatchObject({ name: 'JsonError', position: broken.length - 'sesame]'.length });
      expect(String(error)).not.toContain('sesame');
      await expect(parseJson(bytes(text.slice(0, -1)))).rejects.toMatchObject({ position: undefined });
    }),
  );
});
