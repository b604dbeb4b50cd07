// The dry run against the service itself, over inputs with all kinds of mistakes: what it lets pass
// is accepted, and what it forbids is either refused there or one of the rules that are knowingly
// stricter here.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { submitReader } from '../../sandbox/src/batch/request/submit.ts';
import { defaultLimits } from '../../sandbox/src/limits.ts';
import { checkSubmission } from '../../src/submission/check.ts';
import type { SubmissionInput } from '../../src/submission/input.ts';
import type { Issue } from '../../src/submission/issues.ts';
import { readSubmission } from '../../src/submission/submission.ts';
import { wireBody } from '../../src/submission/wire-body.ts';

const MODEL = 'foldmodel2-2026-05-cutoff-2025';

// Mistakes are rare enough for many inputs to hold one or none.
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
const mostly = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: wrong });
const position = mostly(fc.constantFrom(0, 1), fc.integer({ min: -1, max: 7 }));
const chainId = mostly(fc.constantFrom('A', 'B'), fc.constantFrom('C', '', 'a b', 'Z9'));
const ids = maybe(fc.uniqueArray(chainId, { maxLength: 3 }));
const ccd = mostly(fc.constantFrom('SEP', 'atp', '5MC'), fc.constantFrom('NOT A CODE', ''));
const polymer = fc.record({
  ids,
  sequence: mostly(
    fc
      .array(fc.constantFrom('A', 'C', 'G'), { minLength: 2, maxLength: 6 })
      .map((letters) => letters.join('')),
    fc.constantFrom('', 'GIV1', 'ACGU', 'ACGT', 'N', 'X', 'B', 'giveq', '>h\nGIV', '>a\nGI\n>b\nV'),
  ),
  modifications: maybe(fc.array(fc.record({ position, ccd }), { maxLength: 2 })),
});
const smiles = mostly(fc.constantFrom('CCO', '[NH4+]'), fc.constantFrom('C C', '', 'C('));
const ligand = fc.oneof(
  fc.record({ ids, smiles }),
  fc.record({ ids, ccd: fc.array(ccd, { maxLength: 2 }) }),
  fc.record({ ids, smiles: maybe(smiles), ccd: maybe(fc.array(ccd, { maxLength: 2 })) }),
);
const chain = fc.oneof(
  fc.record({ protein: polymer }),
  fc.record({ rna: polymer }),
  fc.record({ dna: polymer }),
  fc.record({ ligand }),
);
const matrix = fc.integer({ min: 0, max: 5 }).chain((size) =>
  fc.array(fc.array(fc.integer(), { minLength: size, maxLength: size }), {
    minLength: size,
    maxLength: size,
  }),
);
const item = fc.record({
  chains: fc.array(chain, { maxLength: 3 }),
  covalentBonds: maybe(
    fc.array(
      fc.record({
        chainId1: chainId,
        residueIndex1: position,
        atomIndex1: fc.integer({ min: -1, max: 2 }),
        chainId2: chainId,
        residueIndex2: position,
        atomIndex2: fc.integer({ min: -1, max: 2 }),
      }),
      { maxLength: 2 },
    ),
  ),
  pocket: maybe(
    fc.record({
      binderChainId: chainId,
      contacts: fc.array(fc.record({ chainId, residueIndex: position }), { maxLength: 2 }),
    }),
  ),
  distogramConditioning: maybe(fc.array(fc.record({ chainId, distogram: matrix }), { maxLength: 2 })),
});
const input: fc.Arbitrary<SubmissionInput> = fc.record({
  items: fc.array(item, { maxLength: 2, minLength: 1 }),
  repeat: maybe(fc.constantFrom(0, 1, 2, 1500, 2001)),
  model: maybe(fc.constantFrom(MODEL, 'other')),
});

/**
 * Rules of the gateway that the service does not have: SMILES are only read there when folded, it
 * never sees a FASTA text, and takes T in RNA as N.
 */
const STRICTER = new Set(['BAD_SMILES', 'SEVERAL_SEQUENCES', 'OTHER_KIND']);
const isStricter = ({ code }: Issue): boolean => STRICTER.has(code);

describe('the dry run and the service', () => {
  it('agree', async () => {
    const read = submitReader(defaultLimits);
    const accepts = (body: unknown): boolean => {
      try {
        read(JSON.parse(JSON.stringify(body)));
        return true;
      } catch {
        return false;
      }
    };
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        const submission = readSubmission(given, MODEL);
        const { issues } = checkSubmission(submission, [MODEL]);
        const accepted = accepts(wireBody(submission));
        if (issues.length === 0) {
          passed += 1;
          expect(accepted).toBe(true);
        } else if (!issues.every(isStricter)) {
          expect({ accepted, issues }).toMatchObject({ accepted: false });
        }
      }),
      { numRuns: 3000 },
    );
    expect(passed).toBeGreaterThan(300);
  });
});
