// Results whose PAE is read off the bytes are what a parser makes of the same bytes, whatever stands in them and however it is written.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listsOf, matrixOf } from '../../src/structure/fold/matrix.ts';
import { type FoldQuery, runFoldQuery } from '../../src/structure/fold/queries.ts';
import { type FoldingResult, readFoldingResult } from '../../src/structure/fold/result.ts';
import { extractMatrix, readFold } from '../../src/upstream/folds/read-fold.ts';
import { parseLenient } from '../../src/upstream/json/lenient-json.ts';
import { runs } from '../property-runs.ts';

const QUESTIONS: readonly FoldQuery[] = [
  { ask: 'summary' },
  { ask: 'paeBlock', range: { maxPoints: 5 } },
  { ask: 'paeChainPairs' },
  { ask: 'raw', path: undefined },
  { ask: 'raw', path: 'pae.1' },
];
const told = (read: () => FoldingResult): unknown => {
  try {
    const result = read();
    return QUESTIONS.map((question) => JSON.stringify(runFoldQuery(result, question)));
  } catch (error) {
    return error;
  }
};
const expectSame = (text: string): void => {
  const bytes = new TextEncoder().encode(text);
  expect(told(() => readFold(bytes))).toEqual(told(() => readFoldingResult(parseLenient(text))));
};

const decimal = fc
  .tuple(fc.constantFrom('', '-'), fc.nat(10 ** 6), fc.nat(9), fc.integer({ min: 0, max: 12 }))
  .map(
    ([sign, whole, digit, places]) =>
      `${sign}${whole}${places === 0 ? '' : `.${String(digit).repeat(places)}`}`,
  );
const odd = fc.constantFrom(
  ...[
    'null',
    'NaN',
    '-Infinity',
    '1e3',
    '1E-7',
    '-0',
    '0',
    '0.1',
    '31.75',
    '1e999',
    '123456789012345678',
    '0.30000000000000004',
  ],
  ...['01', '1.', '.5', '-', '+1', '"x]"', '[1]', '{}', 'true', '', '1 2', '\u00e9'],
);
const cell = fc.oneof({ weight: 12, arbitrary: decimal }, { weight: 1, arbitrary: odd });
const space = fc.constantFrom('', '', ' ', '\n  ', '\t');
const list = (parts: fc.Arbitrary<string>, length: object) =>
  fc
    .tuple(fc.array(parts, { maxLength: 6, ...length }), space, space)
    .map(([all, before, after]) => `[${before}${all.join(`${after},${before}`)}${after}]`);
const matrix = list(fc.oneof({ weight: 20, arbitrary: list(cell, {}) }, { weight: 1, arbitrary: odd }), {});
const around = fc.constantFrom<(pae: string) => string>(
  (pae) => `{"pae":${pae},"ptm":0.5}`,
  (pae) => `{"ptm": 0.5, "pae" : ${pae}}`,
  (pae) => `\ufeff{"é":"ü","pae":${pae}}`,
  (pae) => `{"data":{"pae":${pae}},"pae":"x"}`,
  (pae) => `{"data":{"ptm":0.1},"complex":{"pae":${pae}}}`,
  (pae) => `{"complex":{"pae":[[1]]},"pae":${pae}}`,
  (pae) => `{"pae":[[1,2],[3,4]],"pae":${pae}}`,
  (pae) => `{"x":"\\"pae\\":[[1]]","y\\"pae":[[1]],"z":["pae"],"pae":${pae}}`,
  (pae) => `{"pae":${pae}`,
  (pae) => `{"ptm":oops,"pae":${pae}}`,
  (pae) => `{"pae":${pae} x}`,
);

it('any result with any PAE is read as a parser reads it, errors and their places too', () => {
  fc.assert(
    fc.property(matrix, around, (pae, write) => expectSame(write(pae))),
    { numRuns: runs(300) },
  );
});

it('every number is the one that JSON.parse gives, to the last bit', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }), (row) => {
      const lifted = extractMatrix(Buffer.from(JSON.stringify({ pae: [row] })), 'pae', '');
      expect([...(lifted?.matrix.row(0) ?? [])]).toEqual(JSON.parse(JSON.stringify(row)));
    }),
  );
  fc.assert(
    fc.property(fc.array(decimal, { minLength: 1 }), (row) => {
      const lifted = extractMatrix(Buffer.from(`{"pae":[[${row.join(', ')}]]}`), 'pae', '');
      expect([...(lifted?.matrix.row(0) ?? [])]).toEqual(row.map(Number));
    }),
  );
});

it('a PAE is taken out whatever its shape, and its rest holds none of it', () => {
  const rows = [
    [],
    ...Array.from({ length: 300 }, (_, i) =>
      Array.from({ length: (7 * i) % 400 }, (_cell, k) => (i * k) / 8),
    ),
  ];
  const json = Buffer.from(JSON.stringify({ a: 1, pae: rows, z: 'é' }));
  const lifted = extractMatrix(json, 'pae', 'mark');
  expect(Buffer.from(lifted?.rest ?? []).toString()).toBe('{"a":1,"pae":"mark","z":"é"}');
  expect(lifted && listsOf(lifted.matrix)).toEqual(rows);
  expect(lifted?.matrix.max).toBe(matrixOf(rows).max);
  expect(listsOf(matrixOf(rows))).toEqual(rows);
});
