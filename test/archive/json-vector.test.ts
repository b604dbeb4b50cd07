// Where values end in JSON is found sixteen bytes at a time as it is one by one, whatever the bytes are.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterValue } from '../../src/upstream/json-scan.ts';
import { valuesIn } from '../../src/upstream/json-vector.ts';

/** So many bytes are looked at by vectors. */
const WORTH_IT = 1024;

/** Expects the same end of a value from any of the first bytes on. */
function expectSame(bytes: Buffer): void {
  const after = valuesIn(bytes);
  for (let from = 0; from < Math.min(bytes.length, 200); from += 1)
    expect([from, after(from)]).toEqual([from, afterValue(bytes, from)]);
}

test('of JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.string({ unit: 'binary' }), fc.nat(40), (json, text, spaces) => {
      const some = `[${' '.repeat(spaces)}${json},${JSON.stringify(text)}`;
      expectSame(Buffer.from(`${some},"${'x'.repeat(WORTH_IT)}"]`));
      // It ends too early.
      expectSame(Buffer.from(`${some},"${'x'.repeat(WORTH_IT)}"`));
    }),
  );
});

test('of bytes that are no JSON', () => {
  const signs = fc.constantFrom(...Buffer.from('""\\[]{}[{,:0a \u00e4'));
  fc.assert(
    fc.property(fc.array(signs, { minLength: WORTH_IT, maxLength: WORTH_IT + 40 }), (some) =>
      expectSame(Buffer.from(some)),
    ),
  );
});

test('of two texts in turns, and of one behind a longer one', () => {
  const texts = [4000, 2000].map((length) => Buffer.from(`[[${'1,'.repeat(length)}1],["]"]]`));
  const [one, other] = texts.map(valuesIn);
  for (const from of [0, 1, 0])
    expect([one?.(from), other?.(from)]).toEqual(texts.map((bytes) => afterValue(bytes, from)));
  const open = Buffer.from(`[${'1,'.repeat(1000)}`);
  expect(valuesIn(open)(0)).toBe(-1);
});
