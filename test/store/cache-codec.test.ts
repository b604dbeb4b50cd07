import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEntry, encodeEntry } from '../../src/store/cache/entry-codec.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).map((list) => Buffer.from(list));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constantFrom(null, true, false, 'x'.repeat(40_000)),
    bytes,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 4 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test('values of JSON and bytes are read back as they were, wherever the bytes are and however long the rest is', async () => {
  await fc.assert(
    fc.asyncProperty(value, async (kept) => {
      expect(await decodeEntry(await encodeEntry({ value: kept, expires: 5 }))).toEqual({
        value: kept,
        expires: 5,
      });
    }),
    { numRuns: 150 },
  );
});

test('what has a toJSON of its own is kept as that says', async () => {
  const toJSON = () => ({ shown: 2 });
  for (const hidden of [1, Buffer.of(1)]) {
    const value = { lazy: { hidden, toJSON } };
    expect((await decodeEntry(await encodeEntry({ value })))?.value).toEqual({ lazy: { shown: 2 } });
    const mixed = { ...value, bytes: Buffer.of(2) };
    expect((await decodeEntry(await encodeEntry({ value: mixed })))?.value).toEqual({
      lazy: { shown: 2 },
      bytes: Buffer.of(2),
    });
  }
});

test('bytes are never listed one by one, as their toJSON does, which holds up everything else for a catalogue of 7 MB', async () => {
  const bytes = Object.assign(Buffer.from('PNG'), {
    toJSON: () => {
      throw new Error('listed');
    },
  });
  const read = Buffer.from('PNG');
  expect((await decodeEntry(await encodeEntry({ value: bytes })))?.value).toEqual(read);
  expect((await decodeEntry(await encodeEntry({ value: { all: [1, bytes] } })))?.value).toEqual({
    all: [1, read],
  });
});
