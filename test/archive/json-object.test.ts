// The members of a JSON object as bytes: what they are parsed to is what the whole is parsed to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectMembers } from '../../src/upstream/json/json-scan.ts';

const key = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.constantFrom('a', 'b', 'pdb'));
/** Long lists, most of which hold numbers only. */
const list = fc.array(
  fc.oneof(
    { weight: 200, arbitrary: fc.nat() },
    { weight: 1, arbitrary: fc.constantFrom(']', '"', '[', {}, { a: ']' }, [], [1, 2]) },
  ),
  { minLength: 20, maxLength: 60 },
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
  list,
  fc.record({ a: list, b: list }),
  fc.string({ unit: fc.constantFrom('"', '\\', ']', 'a'), minLength: 60, maxLength: 200 }),
);
const object = fc.dictionary(key, value);

describe('the members of an object', () => {
  it('are those that a parser finds', () => {
    fc.assert(
      fc.property(object, fc.constantFrom(0, 1, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const bytes = Buffer.from(text);
        const members = objectMembers(bytes);
        const read = (members ?? []).map(({ name, start, stop }) => [
          name,
          JSON.parse(bytes.toString('utf8', start, stop)),
        ]);
        expect(Object.fromEntries(read)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('are not looked for in anything else', () => {
    for (const text of [
      '',
      ' ',
      '[]',
      '"a"',
      '5',
      'null',
      '{',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,',
      '{"a":1,}',
      '{"a":"x}',
      '{"a":[1}',
      '{"a" 1}',
      '{"a":1} 2',
      '{"\\u00":1}',
    ])
      expect(objectMembers(Buffer.from(text)), text).toBeUndefined();
  });

  it('never reach beyond the bytes that are there', () => {
    fc.assert(
      fc.property(object, fc.nat(), (value, cut) => {
        const text = Buffer.from(JSON.stringify(value));
        const whole = text.subarray(0, cut % text.length);
        expect(objectMembers(whole)).toBeUndefined();
      }),
    );
  });
});
