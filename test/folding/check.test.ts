// The rules of a submission: right inputs pass with exact lengths, every single fault is found at
// its path, many faults are found at once.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { submitReader } from '../../sandbox/src/batch/request/submit.ts';
import { defaultLimits } from '../../sandbox/src/limits.ts';
import { readAndCheck } from '../../src/submission/check.ts';
import type { SubmissionInput } from '../../src/submission/input.ts';
import { inputWeight } from '../../src/submission/input-weight.ts';
import { type Issue, MAX_ISSUES } from '../../src/submission/issues.ts';
import { readSubmission } from '../../src/submission/submission.ts';
import { wireBody } from '../../src/submission/wire-body.ts';
import { expectLinear, GROWTH } from '../cpu-time.ts';
import { rightInput } from './inputs.ts';

const MODEL = 'foldmodel2-2026-05-cutoff-2025';
const check = async (input: SubmissionInput) => readAndCheck(input, [MODEL]).check;
const spelled = (issues: readonly Issue[]) => issues.map(({ path, code }) => `${path} ${code}`);
const found = async (input: SubmissionInput) => spelled((await check(input)).issues);
const warned = async (input: SubmissionInput) => spelled((await check(input)).warnings);

const INSULIN_A = 'GIVEQCCTSICSLYQLENYCN';
type Item = SubmissionInput['items'][number];
const one = (item: Partial<Item>): SubmissionInput => ({
  items: [{ chains: [{ protein: { sequence: INSULIN_A, ids: ['A'] } }], ...item }],
});
const chain = (entry: Item['chains'][number]): SubmissionInput => one({ chains: [entry] });
const square = (size: number) => Array.from({ length: size }, () => Array.from({ length: size }, () => 1));

describe('a right submission', () => {
  it('has no issues, exact lengths and the hashes of its proteins', async () => {
    await fc.assert(
      fc.asyncProperty(rightInput, async (input) => {
        const result = await check(input);
        expect(result.issues).toEqual([]);
        const repeat = input.repeat ?? 1;
        expect(result.taskCount).toBe(input.items.length * repeat);
        let total = 0;
        for (const [i, item] of input.items.entries()) {
          let length = 0;
          let chains = 0;
          for (const { protein, rna, dna, ligand } of item.chains) {
            const copies = (protein ?? rna ?? dna ?? ligand)?.ids?.length ?? 1;
            chains += copies;
            length += copies * ((protein ?? rna ?? dna)?.sequence.length ?? 0);
          }
          expect(result.items[i]).toMatchObject({ index: i, length, chainCount: chains });
          total += length;
        }
        expect(result.totalLength).toBe(total * repeat);
      }),
    );
    const { items } = await check(chain({ protein: { sequence: ` giveqcc\ntsicslyqlenycn* ` } }));
    expect(items[0]?.chains[0]).toEqual({
      ids: [],
      kind: 'PROTEIN',
      length: 21,
      proteinHash: createHash('md5').update(INSULIN_A).digest('hex'),
    });
    const long = 'GIVE'.repeat(40_000);
    expect((await check(chain({ protein: { sequence: long } }))).items[0]?.chains[0]?.proteinHash).toBe(
      createHash('md5').update(long).digest('hex'),
    );
  });

  it('is accepted by the service itself, word for word', async () => {
    const read = submitReader(defaultLimits);
    await fc.assert(
      fc.asyncProperty(rightInput, async (input) => {
        const submission = readSubmission(input, MODEL);
        const body: unknown = JSON.parse(JSON.stringify(wireBody(submission)));
        expect(() => read(body)).not.toThrow();
      }),
    );
  });
});

const bond = (more: object) => ({
  ...{ chainId1: 'A', residueIndex1: 0, atomIndex1: 0, chainId2: 'A', residueIndex2: 1, atomIndex2: 0 },
  ...more,
});

describe('a single fault', () => {
  const faults: [string, SubmissionInput, string][] = [
    ['no items', { items: [] }, 'items EMPTY_LIST'],
    ['2,001 items', { items: Array(2001).fill(one({}).items[0]) }, 'items TOO_MANY_ITEMS'],
    ['repeat 0', { ...one({}), repeat: 0 }, 'repeat REPEAT_OUT_OF_RANGE'],
    ['repeat 2001', { ...one({}), repeat: 2001 }, 'repeat REPEAT_OUT_OF_RANGE'],
    ['1001 items twice', { items: Array(1001).fill(one({}).items[0]), repeat: 2 }, 'repeat TOO_MANY_TASKS'],
    ['an unknown model', { ...one({}), model: 'other' }, 'model UNKNOWN_MODEL'],
    ['an endless label', { ...one({}), label: 'x'.repeat(201) }, 'label TOO_LONG'],
    ['a blank key', { ...one({}), idempotencyKey: ' ' }, 'idempotencyKey EMPTY'],
    ['a key with a space', { ...one({}), idempotencyKey: 'k1 ' }, 'idempotencyKey INVISIBLE_CHARACTER'],
    ['a key with a NUL', { ...one({}), idempotencyKey: 'k\u00001' }, 'idempotencyKey INVISIBLE_CHARACTER'],
    ['an odd key', { ...one({}), idempotencyKey: 'k\u200b1' }, 'idempotencyKey INVISIBLE_CHARACTER'],
    [
      'a key with half a character',
      { ...one({}), idempotencyKey: 'k\ud8001' },
      'idempotencyKey INVISIBLE_CHARACTER',
    ],
    [
      'a key with a space that does not break',
      { ...one({}), idempotencyKey: 'k\u00a01' },
      'idempotencyKey INVISIBLE_CHARACTER',
    ],
    ['a key with a filler', { ...one({}), idempotencyKey: 'k\u31641' }, 'idempotencyKey INVISIBLE_CHARACTER'],
    [
      'a key with a selector of variants',
      { ...one({}), idempotencyKey: 'k\ufe0f1' },
      'idempotencyKey INVISIBLE_CHARACTER',
    ],
    [
      'a key with an empty pattern of braille',
      { ...one({}), idempotencyKey: 'k\u28001' },
      'idempotencyKey INVISIBLE_CHARACTER',
    ],
    [
      'a key with a line end of Unicode',
      { ...one({}), idempotencyKey: 'k\u20281' },
      'idempotencyKey INVISIBLE_CHARACTER',
    ],
    ['an endless name', one({ name: 'x'.repeat(201) }), 'items.0.name TOO_LONG'],
    ['no chains', one({ chains: [] }), 'items.0.chains EMPTY_LIST'],
    [
      'an empty sequence',
      chain({ protein: { sequence: ' \n' } }),
      'items.0.chains.0.protein.sequence EMPTY_SEQUENCE',
    ],
    [
      'a foreign letter',
      chain({ protein: { sequence: 'GIV3Q' } }),
      'items.0.chains.0.protein.sequence BAD_LETTER',
    ],
    [
      'two sequences in one FASTA',
      chain({ protein: { sequence: '>a\nGIV\n>b\nEQC' } }),
      'items.0.chains.0.protein.sequence SEVERAL_SEQUENCES',
    ],
    [
      'two sequences of which the first has lost its header',
      chain({ protein: { sequence: 'GIV\n>b\nEQC' } }),
      'items.0.chains.0.protein.sequence SEVERAL_SEQUENCES',
    ],
    ...['>B|ccd\nATP', '>C|rna|x.a3m\nGGGAAACCC', '>dna|name=x\nACGT', '> D | SMILES \rCCO'].map(
      (sequence): [string, SubmissionInput, string] => [
        `a protein whose header is ${sequence.split(/\s*[\r\n]/)[0]}`,
        chain({ protein: { sequence } }),
        'items.0.chains.0.protein.sequence OTHER_KIND',
      ],
    ),
    [
      'a number between letters',
      chain({ protein: { sequence: 'GIV 3 EQ' } }),
      'items.0.chains.0.protein.sequence BAD_LETTER',
    ],
    [
      'a blank id',
      chain({ protein: { sequence: 'GIV', ids: ['A', ' '] } }),
      'items.0.chains.0.protein.ids.1 BAD_CHAIN_ID',
    ],
    [
      'an id twice over two chains',
      one({
        chains: [{ protein: { sequence: 'GIV', ids: ['A', 'B'] } }, { ligand: { ccd: ['ATP'], ids: ['B'] } }],
      }),
      'items.0.chains.1.ligand.ids.0 DUPLICATE_CHAIN_ID',
    ],
    [
      'a position behind the end',
      chain({ protein: { sequence: 'GIV', modifications: [{ position: 3, ccd: 'SEP' }] } }),
      'items.0.chains.0.protein.modifications.0.position POSITION_OUT_OF_RANGE',
    ],
    [
      'a negative position',
      chain({ dna: { sequence: 'ACGT', modifications: [{ position: -1, ccd: '5CM' }] } }),
      'items.0.chains.0.dna.modifications.0.position POSITION_OUT_OF_RANGE',
    ],
    [
      'a code that is none',
      chain({ protein: { sequence: 'SSS', modifications: [{ position: 1, ccd: 'phospho' }] } }),
      'items.0.chains.0.protein.modifications.0.ccd BAD_CCD',
    ],
    [
      'a stop inside',
      chain({ protein: { sequence: 'GI*VE*' } }),
      'items.0.chains.0.protein.sequence BAD_LETTER',
    ],
    ['a gap', chain({ dna: { sequence: 'AC-GT' } }), 'items.0.chains.0.dna.sequence BAD_LETTER'],
    ['DNA as RNA', chain({ rna: { sequence: 'ACGT' } }), 'items.0.chains.0.rna.sequence OTHER_KIND'],
    ['RNA as DNA', chain({ dna: { sequence: 'acgu' } }), 'items.0.chains.0.dna.sequence OTHER_KIND'],
    ['one T in RNA', chain({ rna: { sequence: 'ACGUNT' } }), 'items.0.chains.0.rna.sequence OTHER_KIND'],
    ['no codes in the list', chain({ ligand: { ccd: [] } }), 'items.0.chains.0.ligand LIGAND_EMPTY'],
    [
      'a ragged distogram',
      one({ distogramConditioning: [{ chainId: 'A', distogram: [[1, 2], [1]] }] }),
      'items.0.distogramConditioning.0.distogram.1 DISTOGRAM_RAGGED',
    ],
    ['a ligand of nothing', chain({ ligand: {} }), 'items.0.chains.0.ligand LIGAND_EMPTY'],
    [
      'an open ring bracket',
      chain({ ligand: { smiles: 'C[NH3+' } }),
      'items.0.chains.0.ligand.smiles BAD_SMILES',
    ],
    ['an open branch', chain({ ligand: { smiles: 'CC(=O' } }), 'items.0.chains.0.ligand.smiles BAD_SMILES'],
    ['an open ring', chain({ ligand: { smiles: 'C1CCC' } }), 'items.0.chains.0.ligand.smiles BAD_SMILES'],
    ['a name', chain({ ligand: { smiles: 'Aspirin' } }), 'items.0.chains.0.ligand.smiles BAD_SMILES'],
    [
      'a bond to nowhere',
      one({ covalentBonds: [bond({ chainId2: 'Z' })] }),
      'items.0.covalentBonds.0.chainId2 UNKNOWN_CHAIN',
    ],
    [
      'a bond behind the end',
      one({ covalentBonds: [bond({ residueIndex1: 21 })] }),
      'items.0.covalentBonds.0.residueIndex1 RESIDUE_OUT_OF_RANGE',
    ],
    [
      'a bond before the start',
      one({ covalentBonds: [bond({ residueIndex1: -1 })] }),
      'items.0.covalentBonds.0.residueIndex1 RESIDUE_OUT_OF_RANGE',
    ],
    [
      'a bond to an atom before the first',
      one({ covalentBonds: [bond({ atomIndex2: -1 })] }),
      'items.0.covalentBonds.0.atomIndex2 ATOM_OUT_OF_RANGE',
    ],
    [
      'a pocket of nobody',
      one({ pocket: { binderChainId: 'Z', contacts: [{ chainId: 'A', residueIndex: 0 }] } }),
      'items.0.pocket.binderChainId UNKNOWN_CHAIN',
    ],
    [
      'a contact behind the end',
      one({ pocket: { binderChainId: 'A', contacts: [{ chainId: 'A', residueIndex: 21 }] } }),
      'items.0.pocket.contacts.0.residueIndex RESIDUE_OUT_OF_RANGE',
    ],
    [
      'a crooked distogram',
      one({ distogramConditioning: [{ chainId: 'A', distogram: [...square(21).slice(1), [1]] }] }),
      'items.0.distogramConditioning.0.distogram.20 DISTOGRAM_RAGGED',
    ],
  ];
  it.each(faults)('%s', async (_, input, expected) => {
    expect(await found(input)).toEqual([expected]);
    for (const { message, hint } of (await check(input)).issues) {
      expect(message).toMatch(/^\S.*\.$/s);
      expect(hint).toMatch(/^\S.*\.$/s);
    }
  });

  it('is found wherever in the list its item stands', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...faults.filter(([, { items }]) => items.length === 1)),
        fc.nat(9),
        async ([, bad, expected], at) => {
          const [item] = bad.items;
          const items = [...Array(at).fill(one({}).items[0]), item, one({}).items[0]] as Item[];
          expect(await found({ ...bad, items })).toEqual([expected.replace('items.0.', `items.${at}.`)]);
        },
      ),
    );
  });

  it('says when a position looks 1-based', async () => {
    const hint = async (position: number, sequence = 'GIV') =>
      (await check(chain({ protein: { sequence, modifications: [{ position, ccd: 'SEP' }] } }))).issues.at(-1)
        ?.hint;
    expect(await hint(3)).toMatch(/looks 1-based: the last residue is 2/);
    expect(await hint(4)).toBe('Positions are 0-based.');
    expect(await hint(0, '')).toBe('Positions are 0-based.');
    const bondHint = async (residueIndex1: number, sequence = 'GIV') =>
      (
        await check(
          one({
            chains: [{ protein: { sequence, ids: ['A'] } }],
            covalentBonds: [bond({ residueIndex1, residueIndex2: 0 })],
          }),
        )
      ).issues.find(({ path }) => path.endsWith('residueIndex1'))?.hint;
    expect(await bondHint(3)).toMatch(/looks 1-based: the last residue is 2/);
    expect(await bondHint(4)).toBe('Indices are 0-based.');
    expect(await bondHint(0, '')).toBe('Indices are 0-based.');
  });
});

it.each<[string, SubmissionInput]>([
  ['a label of 200 characters', { ...one({}), label: 'x'.repeat(200) }],
  ['a key of 255 characters', { ...one({}), idempotencyKey: 'x'.repeat(255) }],
  ['a name of 200 characters', one({ name: 'x'.repeat(200) })],
  ['a chain id of one character', chain({ protein: { sequence: 'GIV', ids: ['~'] } })],
  ['4,000 residues', chain({ protein: { sequence: 'W'.repeat(4000) } })],
  ['a PAE of 2,500 residues', one({ chains: [{ rna: { sequence: 'A'.repeat(2500) } }], includePae: true })],
  [
    'a million residues in all',
    { items: [{ chains: [{ protein: { sequence: 'W'.repeat(500) } }] }], repeat: 2000 },
  ],
  ['19 letters of nucleotides', chain({ protein: { sequence: 'ACGTACGTACGTACGTACG' } })],
  ['a bond of two residues', one({ covalentBonds: [bond({})] })],
])('%s: allowed without a warning', async (_, input) => {
  expect(await found(input)).toEqual([]);
  expect(await warned(input)).toEqual([]);
});

it('takes the last atom of a residue, here an oxygen that cannot bond', async () => {
  const input = one({ covalentBonds: [bond({ atomIndex1: 3 })] });
  expect(await found(input)).toEqual([]);
  expect(await warned(input)).toEqual([expect.stringMatching(/CANNOT_BOND$/)]);
});

it('finds many faults at once', async () => {
  const input: SubmissionInput = {
    model: 'other',
    repeat: 0,
    items: [
      { chains: [] },
      { chains: [{ protein: { sequence: '12', ids: ['A', 'A'] } }, { ligand: {} }] },
      {
        chains: [{ protein: { sequence: 'GIV', ids: ['A'] } }],
        covalentBonds: [bond({ chainId1: 'Q', residueIndex2: 99 })],
        pocket: { binderChainId: 'W', contacts: [] },
      },
    ],
  };
  expect((await found(input)).sort()).toEqual(
    [
      'model UNKNOWN_MODEL',
      'repeat REPEAT_OUT_OF_RANGE',
      'items.0.chains EMPTY_LIST',
      'items.1.chains.0.protein.sequence BAD_LETTER',
      'items.1.chains.0.protein.ids.1 DUPLICATE_CHAIN_ID',
      'items.1.chains.1.ligand LIGAND_EMPTY',
      'items.2.covalentBonds.0.chainId1 UNKNOWN_CHAIN',
      'items.2.covalentBonds.0.residueIndex2 RESIDUE_OUT_OF_RANGE',
      'items.2.pocket.binderChainId UNKNOWN_CHAIN',
    ].sort(),
  );
});

describe('a warning', () => {
  const cases: [string, SubmissionInput, string][] = [
    [
      'copies',
      chain({ protein: { sequence: INSULIN_A, ids: ['A', 'B'] } }),
      'items.0.chains.0.protein.ids COPIES_MULTIPLY',
    ],
    ['identical items', { items: [...one({}).items, ...one({}).items] }, 'items.1 IDENTICAL_ITEM'],
    [
      'one name twice',
      { items: ['GIV', 'GIVE'].map((sequence) => ({ name: 'n', chains: [{ protein: { sequence } }] })) },
      'items.1.name DUPLICATE_NAME',
    ],
    [
      'unknown residues',
      chain({ protein: { sequence: 'GIXV' } }),
      'items.0.chains.0.protein.sequence UNKNOWN_RESIDUE',
    ],
    [
      'nucleotides as a protein',
      chain({ protein: { sequence: 'ACGT'.repeat(5) } }),
      'items.0.chains.0.protein.sequence LOOKS_LIKE_NUCLEOTIDES',
    ],
    [
      'three-letter codes',
      chain({ protein: { sequence: 'Gly Ile Val Ala Cys' } }),
      'items.0.chains.0.protein.sequence LOOKS_LIKE_THREE_LETTER_CODES',
    ],
    ...[
      'MALWMRLLpSPLLALLALWG',
      'MALWMaaaRLLPLLAL',
      'MALWMRLLPL\nlength 10',
      '1 MALWMRLLPL\n31 ALLALWGPDP',
      `1 ${INSULIN_A}\n${INSULIN_A} 2`,
      `${INSULIN_A}\n\n${INSULIN_A}`,
      `>a\r\n${INSULIN_A}\r\n \r\n${INSULIN_A}`,
      `INS ${INSULIN_A}`,
      `N ${INSULIN_A} C`,
      `1 N ${INSULIN_A} C 23`,
    ].map((sequence): [string, SubmissionInput, string] => [
      `what is no residue in ${JSON.stringify(sequence)}`,
      chain({ protein: { sequence } }),
      'items.0.chains.0.protein.sequence LOOKS_LIKE_MORE_TEXT',
    ]),
    [
      'numbers of DNA that skip letters',
      chain({ dna: { sequence: '1 acgt\n9 acgt' } }),
      'items.0.chains.0.dna.sequence LOOKS_LIKE_MORE_TEXT',
    ],
    [
      'a phosphoserine one too far',
      chain({ protein: { sequence: 'GISVE', modifications: [{ position: 3, ccd: 'SEP' }] } }),
      'items.0.chains.0.protein.modifications.0.position POSITION_LOOKS_ONE_BASED',
    ],
    [
      'a phosphoserine on a valine',
      chain({ protein: { sequence: 'GIVE', modifications: [{ position: 2, ccd: 'SEP' }] } }),
      'items.0.chains.0.protein.modifications.0.position UNUSUAL_MODIFICATION',
    ],
    [
      'no ids in the list',
      chain({ protein: { sequence: 'GIV', ids: [] } }),
      'items.0.chains.0.protein.ids EMPTY_LIST',
    ],
    ...[0, 1].map((unnamed): [string, SubmissionInput, string] => [
      `no ids of chain ${unnamed}`,
      one({
        chains: ['A', 'B'].map((id, c) => ({ rna: { sequence: 'ACGU', ids: c === unnamed ? null : [id] } })),
      }),
      `items.0.chains.${unnamed} MIXED_CHAIN_IDS`,
    ]),
    [
      'a contact on the binder',
      one({ pocket: { binderChainId: 'A', contacts: [{ chainId: 'A', residueIndex: 20 }] } }),
      'items.0.pocket.contacts.0.chainId CONTACT_ON_BINDER',
    ],
    [
      'a position twice',
      chain({
        protein: {
          sequence: 'SSS',
          modifications: [
            { position: 1, ccd: 'SEP' },
            { position: 1, ccd: 'SAC' },
          ],
        },
      }),
      'items.0.chains.0.protein.modifications.1.position DUPLICATE_POSITION',
    ],
    [
      'a ligand twice',
      chain({ ligand: { smiles: 'C', ccd: ['ATP'] } }),
      'items.0.chains.0.ligand LIGAND_AMBIGUOUS',
    ],
    [
      'a bond to the fifth atom of a glycine',
      one({ covalentBonds: [bond({ atomIndex1: 4 })] }),
      'items.0.covalentBonds.0.atomIndex1 ATOM_OUT_OF_RANGE',
    ],
    [
      'a bond of an atom to itself',
      one({ covalentBonds: [bond({ residueIndex2: 0 })] }),
      'items.0.covalentBonds.0 SELF_BOND',
    ],
    [
      'a pocket without contacts',
      one({ pocket: { binderChainId: 'A', contacts: [] } }),
      'items.0.pocket.contacts EMPTY_LIST',
    ],
    [
      'a distogram of another length',
      one({ distogramConditioning: [{ chainId: 'A', distogram: square(20) }] }),
      'items.0.distogramConditioning.0.distogram DISTOGRAM_LENGTH',
    ],
    [
      'a distogram for a ligand',
      one({
        chains: [{ ligand: { ccd: ['ATP'], ids: ['L'] } }],
        distogramConditioning: [{ chainId: 'L', distogram: square(1) }],
      }),
      'items.0.distogramConditioning.0.chainId DISTOGRAM_ON_LIGAND',
    ],
    [
      'two distograms for a chain',
      one({ distogramConditioning: [1, 2].map(() => ({ chainId: 'A', distogram: square(21) })) }),
      'items.0.distogramConditioning.1.chainId DUPLICATE_DISTOGRAM',
    ],
    [
      'letters beyond the twenty',
      chain({ protein: { sequence: 'GIBJOUXZ' } }),
      'items.0.chains.0.protein.sequence UNKNOWN_RESIDUE',
    ],
    [
      'IUPAC codes of nucleic acids',
      chain({ rna: { sequence: 'ACGURYSWKMBDHVN' } }),
      'items.0.chains.0.rna.sequence UNKNOWN_RESIDUE',
    ],
    [
      'an endless id',
      chain({ protein: { sequence: 'GIV', ids: ['x'.repeat(33)] } }),
      'items.0.chains.0.protein.ids.0 UNUSUAL_CHAIN_ID',
    ],
    ...['Kette ä', 'α', 'A B', 'A\u0007'].map((id): [string, SubmissionInput, string] => [
      `an id that CIF cannot hold: ${JSON.stringify(id)}`,
      chain({ protein: { sequence: 'GIV', ids: [id] } }),
      'items.0.chains.0.protein.ids.0 UNUSUAL_CHAIN_ID',
    ]),
    [
      'a chain id of 32 characters, which mmCIF holds',
      chain({ protein: { sequence: 'GIV', ids: ['x'.repeat(32)] } }),
      'items.0.chains.0.protein.ids NO_PDB_FILE',
    ],
    [
      'ids of several letters, told once',
      { items: [{ chains: ['AB', 'CD'].map((id) => ({ protein: { sequence: 'GIV', ids: [id] } })) }] },
      'items.0.chains.0.protein.ids NO_PDB_FILE',
    ],
    [
      'a component code of five characters',
      chain({ ligand: { ccd: ['A1AAA'], ids: ['L'] } }),
      'items.0.chains.0.ligand.ccd NO_PDB_FILE',
    ],
    [
      'a modification with a code of five characters',
      chain({ protein: { sequence: 'GIV', modifications: [{ position: 1, ccd: 'A1AAA' }] } }),
      'items.0.chains.0.protein.modifications NO_PDB_FILE',
    ],
    [
      'components of one ligand without a bond between them',
      chain({ ligand: { ccd: ['ATP', 'MG'], ids: ['L'] } }),
      'items.0.chains.0.ligand.ccd UNBONDED_COMPONENTS',
    ],
    [
      'components of one ligand of which bonds join some',
      one({
        chains: [{ ligand: { ccd: ['NAG', 'NAG', 'BMA'], ids: ['L'] } }],
        covalentBonds: ['O4', 'O3'].map((atomName1) => ({
          ...{ chainId1: 'L', residueIndex1: 0, atomName1 },
          ...{ chainId2: 'L', residueIndex2: 1, atomName2: 'C1' },
        })),
      }),
      'items.0.chains.0.ligand.ccd UNBONDED_COMPONENTS',
    ],
    [
      'a large PAE',
      one({ chains: [{ rna: { sequence: 'A'.repeat(2501) } }], includePae: true }),
      'items.0.includePae LARGE_PAE',
    ],
    ['a very long item', chain({ protein: { sequence: 'W'.repeat(4001) } }), 'items.0 LONG_ITEM'],
    [
      'a very long total',
      { items: [{ chains: [{ protein: { sequence: 'W'.repeat(2000) } }] }], repeat: 501 },
      'items LONG_TOTAL',
    ],
  ];
  it.each(cases)('%s', async (_, input, expected) => {
    expect(await found(input)).toEqual([]);
    expect(await warned(input)).toEqual([expected]);
  });

  it('names the first of several equal items', async () => {
    const { items } = await check({ items: [1, 2, 3].flatMap(() => one({}).items) });
    expect(items.map(({ sameAs }) => sameAs)).toEqual([null, 0, 0]);
  });

  it('tells items apart that begin alike', async () => {
    const tail = (letter: string) => [{ rna: { sequence: 'A'.repeat(500) + letter } }];
    const { items } = await check({
      items: [
        { chains: tail('C') },
        { chains: tail('G') },
        { chains: tail('C'), includePae: true },
        { chains: tail('U') },
        { chains: tail('G'), name: 'again' },
        { chains: tail('C') },
      ],
    });
    expect(items.map(({ sameAs }) => sameAs)).toEqual([null, null, null, null, 1, 0]);
  });

  it('is not given for a modification that stands where it belongs', async () => {
    expect(
      await warned(chain({ protein: { sequence: 'GISVE', modifications: [{ position: 2, ccd: 'SEP' }] } })),
    ).toEqual([]);
  });
});

describe('what people paste as a sequence', () => {
  const numbered = `        1 ${INSULIN_A.slice(0, 10).toLowerCase()} ${INSULIN_A.slice(10, 20).toLowerCase()}\n       21 n\n`;
  it.each([
    `>x\r${INSULIN_A.slice(0, 9)}\r${INSULIN_A.slice(9)}\r`,
    `>x\r\n${INSULIN_A}\r\n`,
    `\ufeff>A|protein|./a.a3m\n${INSULIN_A}`,
    `>protein|name=insulin\n${INSULIN_A}`,
    `>insulin|protein\n${INSULIN_A}`,
    `>sp|P01308|INS_HUMAN Insulin DNA protein\n${INSULIN_A}`,
    numbered,
    `>x\n${numbered}`,
    `        10         20\n${INSULIN_A.slice(0, 10)} ${INSULIN_A.slice(10, 20)}\nN`,
    `${INSULIN_A.slice(0, 10)} ${INSULIN_A.slice(10)}   21\n`,
    // As alignments number a part of a sequence, and with blank lines around it.
    `\n\n101 ${INSULIN_A.slice(0, 10)} 110\n111 ${INSULIN_A.slice(10)} 121\n\n`,
    `>x\n\n${INSULIN_A}\n\n`,
  ])('is read without its headers, numbers and line ends: %j', async (sequence) => {
    const { issues, warnings, items } = await check(chain({ protein: { sequence } }));
    expect([issues, warnings]).toEqual([[], []]);
    expect(items[0]?.chains[0]?.proteinHash).toBe(createHash('md5').update(INSULIN_A).digest('hex'));
  });

  it('is read from FASTA also for ligands', () => {
    const { items } = readSubmission(
      one({ chains: [{ ligand: { smiles: '>D|smiles\rCCO\r' } }, { ligand: { ccd: ['>B|ccd\natp'] } }] }),
      MODEL,
    );
    expect(items[0]?.chains).toMatchObject([{ smiles: 'CCO' }, { ccd: ['ATP'] }]);
  });

  it('is spelled in one-letter codes in the warning of three-letter codes', async () => {
    const { warnings } = await check(chain({ protein: { sequence: 'METLYSTHRALATYR' } }));
    expect(warnings).toMatchObject([
      {
        message: 'This looks like the three-letter codes of 5 residues, and is read as 15 one-letter codes.',
        hint: 'Write one letter for each residue: MKTAY.',
      },
    ]);
  });
});

it('says what letters become, and that codes win over SMILES', async () => {
  const { issues, warnings } = await check(
    one({
      chains: [
        { protein: { sequence: 'GIUV', ids: ['A'] } },
        { ligand: { smiles: 'not one', ccd: ['ATP'], ids: ['L'] } },
      ],
    }),
  );
  expect(issues).toEqual([]);
  expect(warnings.map(({ message }) => message)).toEqual([
    '1 of 4 letters (U) become unknown residues (X); the first is at position 2 (0-based).',
    'The ligand has both SMILES and CCD codes: the CCD codes are folded, the SMILES is ignored.',
    'This is not a SMILES string: it holds white space.',
  ]);
});

it('lets references to chains pass that only the upstream can have named', async () => {
  const input = one({
    chains: [{ protein: { sequence: 'GIV' } }, { protein: { sequence: 'GIV' } }],
    pocket: { binderChainId: 'A', contacts: [{ chainId: 'B', residueIndex: 0 }] },
  });
  expect(await found(input)).toEqual([]);
  expect(await warned(input)).toEqual([
    'items.0.pocket.binderChainId UNNAMED_CHAIN',
    'items.0.pocket.contacts.0.chainId UNNAMED_CHAIN',
  ]);
});

const many = <T>(length: number, entry: T): T[] => Array.from({ length }, () => entry);
const protein = (more: object): SubmissionInput =>
  chain({ protein: { sequence: 'GIV', ids: ['A'], ...more } });
const oversized: [string, SubmissionInput, string][] = [
  ['items', { items: one({}).items.flatMap((item) => many(2001, item)) }, 'items TOO_MANY_ITEMS'],
  ['chains', one({ chains: many(5001, { protein: { sequence: '' } }) }), 'items.0.chains TOO_MANY'],
  ['copies', protein({ ids: many(5001, '') }), 'items.0.chains.0.protein.ids TOO_MANY'],
  [
    'modifications',
    protein({ modifications: many(5001, { position: -1, ccd: '' }) }),
    'items.0.chains.0.protein.modifications TOO_MANY',
  ],
  ['bonds', one({ covalentBonds: many(5001, bond({})) }), 'items.0.covalentBonds TOO_MANY'],
  [
    'contacts',
    one({ pocket: { binderChainId: 'A', contacts: many(5001, { chainId: 'A', residueIndex: -1 }) } }),
    'items.0.pocket.contacts TOO_MANY',
  ],
  [
    'rows',
    one({ distogramConditioning: [{ chainId: 'A', distogram: many(5001, [1]) }] }),
    'items.0.distogramConditioning.0.distogram TOO_MANY',
  ],
  ['letters', protein({ sequence: '1'.repeat(200_001) }), 'items.0.chains.0.protein.sequence TOO_LONG'],
  ['SMILES', chain({ ligand: { smiles: 'C('.repeat(5001) } }), 'items.0.chains.0.ligand.smiles TOO_LONG'],
  ['codes', chain({ ligand: { ccd: ['!'.repeat(1001)] } }), 'items.0.chains.0.ligand.ccd.0 TOO_LONG'],
];
it.each(oversized)('refuses too many %s before it reads any of them', async (_, input, issue) => {
  expect(await found(input)).toEqual([issue]);
});

it('quotes at most some hundred characters of an input', async () => {
  const long = 'x'.repeat(900);
  const input = { ...protein({ ids: [long, long, ' '] }), model: long, label: long };
  const { issues, warnings } = await check(input);
  expect(issues.length).toBeGreaterThan(3);
  for (const { message } of [...issues, ...warnings]) expect(message.length).toBeLessThan(300);
});

it('tells a thousand faults of a million', async () => {
  const { issues } = await check(
    one({ covalentBonds: Array.from({ length: 5000 }, () => bond({ chainId1: 'Q' })) }),
  );
  expect(issues).toHaveLength(MAX_ISSUES + 1);
  expect(issues.at(-1)).toMatchObject({ code: 'MORE', message: 'There are more than 1000.' });
});

it('tells the first mistakes of a list of modifications, and that there are more', async () => {
  const modifications = Array.from({ length: 5000 }, () => ({ position: 99, ccd: 'SEP' }));
  const { issues } = await check(protein({ sequence: 'GISVE', modifications }));
  expect(issues.map(({ path, code }) => `${path} ${code}`).slice(-2)).toEqual([
    'items.0.chains.0.protein.modifications.19.position POSITION_OUT_OF_RANGE',
    'items.0.chains.0.protein.modifications MORE',
  ]);
  expect(issues.at(-1)?.message).toBe('There are more than 20 in this list.');
});

it('reads on behind many warnings of a list, to find a mistake', async () => {
  const modifications = Array.from({ length: 200 }, () => ({ position: 1, ccd: 'SEP' }));
  const { issues, warnings } = await check(
    protein({ sequence: 'GISVE', modifications: [...modifications, { position: 9, ccd: 'SEP' }] }),
  );
  expect(issues).toMatchObject([{ path: 'items.0.chains.0.protein.modifications.200.position' }]);
  expect(warnings).toHaveLength(21);
});

describe('an input eight times as large', () => {
  const many = <T>(length: number, make: (k: number) => T): T[] => Array.from({ length }, (_, k) => make(k));
  const ligands = (smiles: string, bonds: number): SubmissionInput =>
    one({
      chains: [{ ligand: { smiles, ids: ['A'] } }],
      covalentBonds: many(bonds, (k) => bond({ atomIndex1: k, residueIndex2: 0, atomIndex2: k + 1 })),
    });
  const inputs: [string, number, (n: number) => SubmissionInput][] = [
    ['of brackets', 10_000, (n) => chain({ ligand: { smiles: '['.repeat(n) } })],
    ['of paired brackets', 2000, (n) => chain({ ligand: { smiles: '[CH2]'.repeat(n) } })],
    ['of bonds in a long SMILES', 1000, (n) => ligands('C'.repeat(8 * n), n)],
    [
      'of bonds in a modified chain',
      4000,
      (n) =>
        one({
          chains: [
            {
              protein: {
                sequence: 'G'.repeat(n),
                ids: ['A'],
                modifications: many(n, (position) => ({ position, ccd: 'ZZZ' })),
              },
            },
          ],
          covalentBonds: many(n, () => bond({})),
        }),
    ],
    ['of copies', 5000, (n) => chain({ protein: { sequence: 'GIV', ids: many(n, String) } })],
    [
      'of bonds and chains',
      4000,
      (n) =>
        one({
          chains: many(n, (k) => ({ protein: { sequence: 'GIV', ids: [`C${k}`] } })),
          covalentBonds: many(n, (k) => bond({ chainId1: `C${k}`, chainId2: `C${n - 1 - k}` })),
        }),
    ],
    ['of FASTA headers', 100_000, (n) => chain({ protein: { sequence: '>\n'.repeat(n) } })],
    ['of letters to remark on', 100_000, (n) => chain({ rna: { sequence: 'X1'.repeat(n) } })],
  ];
  it.each(inputs)('%s takes linear time, here and in the sandbox', async (_, size, make) => {
    const read = submitReader(defaultLimits);
    const [small, large] = [make(size / GROWTH), make(size)];
    await expectLinear(
      () => check(small),
      () => check(large),
    );
    const readBody = async (input: SubmissionInput): Promise<unknown> => {
      const submission = readSubmission(input, MODEL);
      return JSON.parse(JSON.stringify(wireBody(submission)));
    };
    const [few, many] = [await readBody(small), await readBody(large)];
    const theirs = (body: unknown) => () => {
      try {
        read(body);
      } catch {
        // A refusal takes its time too.
      }
    };
    await expectLinear(theirs(few), theirs(many));
  });

  it('costs in proportion', () => {
    const weights = [20_000, 80_000].map((size) =>
      inputWeight(one({ covalentBonds: many(size, () => bond({})) })),
    );
    expect((weights[1] ?? 0) / (weights[0] ?? 1)).toBeCloseTo(4, 1);
  });
});

it('checks 2,000 items of 500 residues in linear time', async () => {
  const items = Array.from({ length: 2000 }, (_, i) => ({
    name: `item ${i}`,
    chains: [
      {
        protein: {
          sequence: INSULIN_A.repeat(23) + 'ACDEFGHIKLMNPQRSTVWY'.charAt(i % 20).repeat(1 + (i % 17)),
          ids: ['A', 'B'],
        },
      },
    ],
    covalentBonds: [bond({})],
  }));
  const result = await check({ items });
  expect(result.issues).toEqual([]);
  expect(result.taskCount).toBe(2000);
  const few = { items: items.slice(0, items.length / GROWTH) };
  await expectLinear(
    () => check(few),
    () => check({ items }),
  );
});
