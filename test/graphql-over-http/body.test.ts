// Large texts in JSON, bytes to bytes: whatever they hold and however small the pieces are that they are written in, what comes out is
// what JSON.stringify makes of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkWriter } from '../../src/http/graphql/chunk-writer.ts';
import { type Body, serializeResult, toBuffer } from '../../src/http/graphql/serialize-result.ts';
import { streamOf } from '../../src/http/graphql/stream-body.ts';
import { lazyText } from '../../src/structure/lazy-text.ts';

/** A late text, which gives the same bytes each time. */
function lateOf(bytes: Uint8Array) {
  let opened = 0;
  const text = lazyText({
    size: bytes.length,
    bytes: () => {
      opened += 1;
      return bytes;
    },
  });
  return { text, opened: () => opened };
}

async function inPieces(body: string | Body, size: number): Promise<string> {
  if (typeof body === 'string') return body;
  const writer = new ChunkWriter(size);
  const chunks: Buffer[] = [];
  for (const chunk of writer.add(body.pieces)) {
    expect(chunk.length).toBeLessThanOrEqual(size);
    chunks.push(chunk);
    await Promise.resolve();
  }
  return Buffer.concat([...chunks, writer.take() ?? Buffer.alloc(0)]).toString();
}

const PDB = 'ATOM      1  CA  ALA A   1      11.639   6.071  -5.147  1.00  0.91           C  \n';
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => new TextEncoder().encode(text)),
  // Lines as they are in structures, with something else here and there, byte order marks among it.
  fc
    .array(fc.constantFrom(PDB, 'REMARK "a" \\ b\r\n', 'Å', '\ufeff', '\u2028', '\t', '\x7f', '\n', '🧬'), {
      maxLength: 20,
    })
    .map((lines) => new TextEncoder().encode(lines.join(''))),
);

describe('a body with large texts', () => {
  it('is the JSON of the result, whatever the texts and however it is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyBytes, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 32, max: 700 }),
        async (all, size) => {
          const data = (texts: readonly unknown[]) => ({
            data: { items: texts.map((text, i) => ({ name: `"${i}"`, text })), more: ['Å', null] },
            extensions: { cost: 1 },
          });
          const expected = JSON.stringify(data(all.map((bytes) => new TextDecoder().decode(bytes))));
          const given = all.map((bytes) => Uint8Array.from(bytes));
          const result = data(given.map((bytes) => lateOf(bytes).text));
          expect(JSON.stringify(result)).toBe(expected);
          const body = serializeResult(result);
          expect(toBuffer(body).toString()).toBe(expected);
          expect(await inPieces(body, size)).toBe(expected);
          expect(given).toEqual(all.map((bytes) => Uint8Array.from(bytes)));
        },
      ),
      // A byte order mark at the beginning of a chunk.
      { numRuns: 300, examples: [[[Uint8Array.of(0xef, 0xbb, 0xbf), new Uint8Array()], 42]] },
    );
  });

  it('is that where a single byte of a long text is another', async () => {
    const bytes = Buffer.from(PDB.repeat(1500));
    const other = fc.record({
      at: fc.integer({ min: 0, max: bytes.length - 1 }),
      byte: fc.integer({ min: 0, max: 127 }),
      size: fc.integer({ min: 30_000, max: 140_000 }),
    });
    await fc.assert(
      fc.asyncProperty(other, async ({ at, byte, size }) => {
        const text = Buffer.from(bytes);
        text[at] = byte;
        const body = serializeResult({ data: { text: lateOf(text).text } });
        expect((await inPieces(body, size)) === JSON.stringify({ data: { text: text.toString() } })).toBe(
          true,
        );
      }),
      { numRuns: 100 },
    );
  });

  it('unpacks a text when it is its turn, and each time that it is written', async () => {
    const texts = Array.from({ length: 10 }, () => lateOf(Buffer.from(PDB.repeat(100))));
    const body = serializeResult({ data: { texts: texts.map(({ text }) => text) } });
    if (typeof body === 'string') throw new Error('The texts were not left out.');
    const opened = () => texts.map((one) => one.opened());
    expect(opened()).toEqual(Array(10).fill(0));
    new ChunkWriter(10_000).add(body.pieces).next();
    expect(opened()).toEqual([1, 1, ...Array(8).fill(0)]);
    expect(toBuffer(body).length).toBeGreaterThan(80_000);
    expect(opened()).toEqual([2, 2, ...Array(8).fill(1)]);
  });

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
      value: fc.oneof({ maxDepth: 3 }, small, long, tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    }));
    const late = Buffer.from(PDB);
    const withTexts = (given: unknown, text: unknown): unknown => {
      if (given === 'late') return text;
      if (Array.isArray(given)) return given.map((item) => withTexts(item, text));
      if (typeof given !== 'object' || given === null || given instanceof Date) return given;
      return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, withTexts(one, text)]));
    };
    fc.assert(
      fc.property(value, (data) => {
        const expected = JSON.stringify({ data: withTexts(data, PDB) });
        const made = serializeResult(
          { data: withTexts(data, lateOf(late).text) as Record<string, unknown> },
          '<',
          '>',
        );
        expect(toBuffer(made).toString() === `<${expected}>`).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('is a string where there are none', () => {
    expect(serializeResult({ data: { a: 'b' } }, '<', '>')).toBe('<{"data":{"a":"b"}}>');
  });
});

describe('a stream whose client reads on and on', () => {
  it('gives other work its turn, however fast its parts come', async () => {
    let turns = 0;
    const other = setInterval(() => {
      turns += 1;
    }, 1);
    async function* parts() {
      for (let part = 0; part < 100; part += 1) yield part;
    }
    const write = (part: number): string => {
      for (const since = performance.now(); performance.now() - since < 2; );
      return String(part);
    };
    const bytes = await new Response(streamOf(parts(), { write })).text();
    clearInterval(other);
    expect(bytes).toBe(Array.from({ length: 100 }, (_, part) => part).join(''));
    expect(turns).toBeGreaterThan(5);
  });
});
