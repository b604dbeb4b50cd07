// The members of a JSON object as bytes: what they are parsed to is what the whole is parsed to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectMembers } from '../../src/upstream/json/json-scan.ts';
import { recordOf, splitRecord } from '../../src/upstream/proteins/protein-record.ts';
import { featuresOf } from '../../src/upstream/proteins/record-parts.ts';
import { proteinRecord } from '../../src/upstream/wire.ts';

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

const record = fc.record(
  {
    protein_hash: fc.string({ unit: fc.constantFrom('0', 'a'), minLength: 32, maxLength: 32 }),
    accession: fc.option(fc.string()),
    sequence: fc.option(fc.string({ unit: fc.constantFrom('A', 'C', 'W') })),
    ptm: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    mean_plddt: fc.option(fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant('high'))),
    residues_plddt: fc.oneof(
      fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true }))),
      fc.constant('none'),
    ),
    pdb: fc.oneof(fc.option(fc.string()), fc.constant(7)),
    sae_features: fc.array(
      fc.record({
        feature_index: fc.nat(16_383),
        value: fc.double({ min: 0, max: 99, noNaN: true }),
        label: fc.string(),
      }),
    ),
    later: fc.jsonValue(),
  },
  { requiredKeys: ['protein_hash'] },
);

describe('a record that is read by its members', () => {
  it('says what the whole says', () => {
    fc.assert(
      fc.property(record, fc.infiniteStream(fc.nat()), (value, order) => {
        // What is parsed together may stand anywhere.
        const shuffled = Object.entries(value)
          .map((member) => [order.next().value, member] as const)
          .sort(([a], [b]) => a - b);
        const text = JSON.stringify(Object.fromEntries(shuffled.map(([, member]) => member)));
        const parts = splitRecord(Buffer.from(text), {});
        const read = parts && { record: recordOf(parts), parts, requestId: 'id' };
        const whole = proteinRecord.parse(JSON.parse(text));
        expect(JSON.parse(JSON.stringify(read?.record))).toEqual(JSON.parse(JSON.stringify(whole)));
        expect(read && featuresOf(read, 10)?.values).toEqual(whole.sae_features);
        expect(read?.parts.readAll()).toEqual(JSON.parse(text));
        expect(read?.parts.lengthOf('pdb')).toBe(
          typeof value.pdb === 'string' ? Buffer.byteLength(JSON.stringify(value.pdb)) - 2 : 0,
        );
      }),
      { numRuns: 300 },
    );
  });
});
