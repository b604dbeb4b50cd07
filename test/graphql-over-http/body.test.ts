// Results as JSON in pieces: joined, they equal the output of JSON.stringify; large texts are
// unpacked one at a time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitBytes, toJsonPieces } from '../../src/http/graphql/result-stream.ts';
import { toBodyStream } from '../../src/http/server/body-stream.ts';
import { LazyText } from '../../src/structure/lazy-text.ts';

const PDB = 'ATOM      1  CA  ALA A   1      11.639   6.071  -5.147  1.00  0.91           C  \n';

/** A late text, which counts how often it is unpacked. */
function sendLate(bytes: Uint8Array) {
  let opened = 0;
  const text = new LazyText(bytes.length, () => {
    opened += 1;
    return bytes;
  });
  return { text, opened: () => opened };
}

describe('a result in pieces', () => {
  it('is the JSON of the result, however large its parts are', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.double({ noNaN: true }),
      fc.constantFrom(null, true, undefined, new Date(0), 'late'),
    );
    const names = fc.string({ maxLength: 8 }).filter((name) => name !== '__proto__');
    const small = fc.oneof(
      leaf,
      fc.array(leaf, { maxLength: 4 }),
      fc.dictionary(names, leaf, { maxKeys: 4 }),
    );
    const long = fc.tuple(small, fc.nat(700)).map(([item, length]): unknown => Array(length).fill(item));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, small, long, tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    }));
    const lateText = fc
      .array(fc.constantFrom(PDB, '"', '\\', '\n', '\r\n', '\t', '\0', '\u007f', 'Å', '🧬', '\u2028'))
      .map((parts) => parts.join(''));
    const withTexts = (given: unknown, text: unknown): unknown => {
      if (given === 'late') return text;
      if (Array.isArray(given)) return given.map((item) => withTexts(item, text));
      if (typeof given !== 'object' || given === null || given instanceof Date) return given;
      return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, withTexts(one, text)]));
    };
    fc.assert(
      fc.property(value, lateText, (data, text) => {
        const expected = JSON.stringify({ data: withTexts(data, text) });
        const late = sendLate(Buffer.from(text)).text;
        const made = [...toJsonPieces({ data: withTexts(data, late) }, '<', '>')];
        expect(made.join('') === `<${expected}>`).toBe(true);
        const bytes = Buffer.concat([...limitBytes(made, Number.POSITIVE_INFINITY, () => new Error())]);
        expect(bytes.equals(Buffer.from(`<${expected}>`))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('has pieces of about 64 KB, of lists of objects and of matrices', () => {
    const items = Array.from({ length: 500 }, (_, i) => ({ id: i, structure: { text: PDB.repeat(100) } }));
    const pae = Array.from({ length: 500 }, () => Array.from({ length: 500 }, (_, i) => i));
    for (const data of [{ proteins: items }, { batch: { task: { result: { nested: { pae } } } } }]) {
      const pieces = [...toJsonPieces({ data })];
      expect(pieces.join('')).toBe(JSON.stringify({ data }));
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(80_000);
    }
  });

  it('unpacks a text when it is its turn, and each time that it is written', () => {
    const texts = Array.from({ length: 10 }, () => sendLate(Buffer.from(PDB.repeat(1000))));
    const result = { data: { proteins: texts.map(({ text }) => ({ structure: { text } })) } };
    const opened = () => texts.map((one) => one.opened());
    toJsonPieces(result).next();
    expect(opened()).toEqual([1, ...Array(9).fill(0)]);
    expect([...toJsonPieces(result)].join('')).toBe(
      JSON.stringify({ data: { proteins: texts.map(() => ({ structure: { text: PDB.repeat(1000) } })) } }),
    );
    expect(opened()).toEqual([2, ...Array(9).fill(1)]);
  });

  it('ends with an error above a limit of bytes', () => {
    const result = { data: { proteins: Array.from({ length: 100 }, () => ({ name: 'Å'.repeat(1000) })) } };
    const bytes = Buffer.byteLength(JSON.stringify(result));
    const limited = (max: number) => [
      ...limitBytes(toJsonPieces(result), max, () => new Error(`more than ${max}`)),
    ];
    expect(limited(bytes).join('')).toBe(JSON.stringify(result));
    expect(() => limited(bytes - 1)).toThrow('more than');
  });
});

describe('a stream whose client reads on and on', () => {
  it('gives other work its turn, however fast its parts come', async () => {
    let turns = 0;
    const other = setInterval(() => {
      turns += 1;
    }, 1);
    async function* parts() {
      for (let part = 0; part < 100; part += 1) {
        for (const since = performance.now(); performance.now() - since < 2; );
        yield String(part);
      }
    }
    const text = await new Response(toBodyStream(parts())).text();
    clearInterval(other);
    expect(text).toBe(Array.from({ length: 100 }, (_, part) => part).join(''));
    expect(turns).toBeGreaterThan(5);
  });
});
