// The body of Submit and the hash of a submission: what is sent, and which inputs are the same.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SubmissionInput } from '../../src/submission/input.ts';
import { readSubmission } from '../../src/submission/submission.ts';
import { submissionHash, wireBody } from '../../src/submission/wire-body.ts';
import { rightInput } from './inputs.ts';

const hash = (input: SubmissionInput) => submissionHash(readSubmission(input, 'm'));

const COMPLEX: SubmissionInput = {
  label: 'l',
  repeat: 2,
  items: [
    {
      name: 'n',
      chains: [
        { protein: { sequence: 'gisv e*', ids: ['A', 'B'], modifications: [{ ccd: 'sep', position: 2 }] } },
        { rna: { sequence: 'ACGU', ids: [] } },
        { dna: { sequence: 'ACGT', ids: ['D'] } },
        { ligand: { smiles: 'CCO', ids: ['L'] } },
        { ligand: { ccd: ['atp'] } },
      ],
      covalentBonds: [
        { chainId1: 'A', residueIndex1: 0, atomIndex1: 1, chainId2: 'L', residueIndex2: 0, atomIndex2: 2 },
      ],
      pocket: { binderChainId: 'B', contacts: [{ chainId: 'A', residueIndex: 3 }] },
      distogramConditioning: [{ chainId: 'D', distogram: [[1, 2]] }],
      includePae: true,
    },
  ],
};

describe('the body of Submit', () => {
  it('has the words of the spec, cleaned', async () => {
    expect(wireBody(readSubmission(COMPLEX, 'm'))).toEqual({
      endpoint: 'fold_max_accuracy',
      repeat: 2,
      payload: [
        {
          model: 'm',
          all_atom_input: {
            sequences: [
              {
                type: 'protein',
                id: ['A', 'B'],
                sequence: 'GISVE',
                modifications: [{ position: 2, ccd: 'SEP' }],
              },
              { type: 'rna', id: null, sequence: 'ACGU', modifications: null },
              { type: 'dna', id: 'D', sequence: 'ACGT', modifications: null },
              { type: 'ligand', id: 'L', smiles: 'CCO', ccd: null },
              { type: 'ligand', id: null, smiles: null, ccd: ['ATP'] },
            ],
            covalent_bonds: [
              { chain_id1: 'A', res_idx1: 0, atom_idx1: 1, chain_id2: 'L', res_idx2: 0, atom_idx2: 2 },
            ],
            pocket: { binder_chain_id: 'B', contacts: [['A', 3]] },
            distogram_conditioning: [{ chain_id: 'D', distogram: [[1, 2]] }],
          },
          potential_sequence_of_concern: false,
          include_pae: true,
          include_pair_chains_iptm: false,
          include_embeddings: false,
        },
      ],
    });
  });
});

describe('the hash of a submission', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, shuffled(inner)]),
    );
  };

  it('is the same for the same meaning: case, white space, defaults, the order of keys, the idempotency key', async () => {
    await fc.assert(
      fc.asyncProperty(rightInput, async (input) => {
        const spelled: SubmissionInput = {
          ...(shuffled(input) as SubmissionInput),
          repeat: input.repeat ?? 1,
          model: 'm',
          idempotencyKey: 'k',
        };
        const text = JSON.stringify(spelled).replaceAll(/"sequence":"(\w+)"/g, (_, s: string) => {
          const half = Math.floor(s.length / 2);
          return `"sequence":" ${s.slice(0, half).toLowerCase()}\\n${s.slice(half)}*"`;
        });
        expect(await hash(JSON.parse(text) as SubmissionInput)).toBe(await hash(input));
      }),
    );
  });

  it('differs for any other meaning', async () => {
    const [item] = COMPLEX.items;
    if (item === undefined) throw new Error('no item');
    const others: SubmissionInput[] = [
      { ...COMPLEX, repeat: 3 },
      { ...COMPLEX, label: 'other' },
      { ...COMPLEX, model: 'other' },
      { ...COMPLEX, items: [item, item] },
      { ...COMPLEX, items: [{ ...item, name: 'other' }] },
      { ...COMPLEX, items: [{ ...item, includePae: false }] },
      { ...COMPLEX, items: [{ ...item, includeEmbeddings: true }] },
      { ...COMPLEX, items: [{ ...item, pocket: null }] },
      { ...COMPLEX, items: [{ ...item, covalentBonds: [] }] },
      { ...COMPLEX, items: [{ ...item, chains: [...item.chains].reverse() }] },
    ];
    expect(new Set(await Promise.all([COMPLEX, ...others].map(hash))).size).toBe(others.length + 1);
  });

  it('is that of the whole JSON, in whatever pieces it was written', async () => {
    const long: SubmissionInput = {
      items: [
        {
          chains: [
            {
              protein: {
                sequence: 'GIV'.repeat(100_000),
                ids: Array.from({ length: 60_000 }, (_, k) => `C${k}`),
              },
            },
          ],
          distogramConditioning: [
            { chainId: 'C1', distogram: [[], Array.from({ length: 70_000 }, (_, k) => k), [-1]] },
          ],
        },
      ],
    };
    for (const input of [COMPLEX, long]) {
      const submission = readSubmission(input, 'm');
      const text = JSON.stringify([
        submission.label,
        submission.items.map(({ name }) => name),
        wireBody(submission),
      ]);
      expect(await hash(input)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});
