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

test('a byte order mark is dropped', async () => {
  for (const workerAboveBytes of [0, 1e6])
    expect(await parseJson(bytes('\ufeff{"a": "é"}'), { workerAboveBytes })).toEqual({ a: 'é' });
});

/** The value with U+FFFD for each half of a surrogate pair. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]),
  );
};

test('an escaped half of a surrogate pair is U+FFFD, whole pairs and escaped backslashes stay', async () => {
  const text = String.raw`["\ud83d\ude00", "\ud83d", "\uDE00\ud83d", "\\ud83d", "\\\ud83dx", "\ud83d\\ude00"]`;
  expect(await parseJson(bytes(text))).toEqual([
    '😀',
    '\ufffd',
    '\ufffd\ufffd',
    '\\ud83d',
    '\\\ufffdx',
    '\ufffd\\ude00',
  ]);
  const units = fc
    .array(fc.constantFrom('\ud83d', '\ude00', '\\', 'ud83d', '"', 'a'))
    .map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(units, fc.array(units)), async (value) => {
      const escaped = JSON.stringify(value).replace(
        /[\ud800-\udfff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
      );
      expect(await parseJson(bytes(escaped))).toEqual(wellFormed(value));
    }),
  );
  await expect(parseJson(bytes(String.raw`["\ud8"]`))).rejects.toMatchObject({ name: 'JsonError' });
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

test('the error of broken JSON says nothing of its text', async () => {
  for (const broken of ['["x" sesame]', '["sesame"', 'sesame', ''])
    for (const workerAboveBytes of [0, 1e6]) {
      const error: unknown = await parseJson(bytes(broken), { workerAboveBytes }).catch((e: unknown) => e);
      expect(error).toMatchObject({ name: 'JsonError' });
      expect(String(error)).not.toContain('sesame');
    }
});

test('what is nested deeper than any answer is refused before it is parsed', async () => {
  const nested = (depth: number, open: string, inner: string, close: string): string =>
    `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
  for (const workerAboveBytes of [0, 1e9]) {
    const parse = (text: string) => parseJson(bytes(text), { workerAboveBytes });
    for (const text of [
      '['.repeat(4_000_000),
      nested(500_000, '[', '1', ']'),
      nested(300_000, '{"a":[', 'null', ']}'),
      `{"note":"${'\\"]'.repeat(5_000)}","deep":${nested(1_001, '[ ', '', ']')}}`,
    ]) {
      const failure = await parse(text).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ name: 'JsonError', message: expect.stringContaining('too deeply') });
    }
    const deep = nested(1_000, '[', '1', ']');
    expect(JSON.stringify(await parse(deep))).toBe(deep);
    const wide = JSON.stringify(Array.from({ length: 5_000 }, () => [['[[{{'], { a: [] }]));
    expect(JSON.stringify(await parse(wide))).toBe(wide);
  }
});

test('what would take many times the memory of its text is refused before it is parsed', async () => {
  const parse = (text: string) => parseJson(bytes(text), { workerAboveBytes: 1e9 });
  for (const text of [`[${'[],'.repeat(500_001)}0]`, `{${'"":0,'.repeat(500_001)}"b":0}`])
    await expect(parse(text)).rejects.toMatchObject({ name: 'JsonError' });
  const text = '[],:{},'.repeat(300_000);
  expect(await parse(JSON.stringify([text]))).toEqual([text]);
});
