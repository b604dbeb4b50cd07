// The chains of one folding input (spec: "Sequence inputs", "Modification"): field rules and alphabets. It must not
// know bonds, pockets or anything else that refers to a chain.
import { z } from 'zod';
import { list } from './reading.ts';

const alphabets = {
  protein: { letters: 'ACDEFGHIKLMNPQRSTVWYX', of: 'amino acids' },
  rna: { letters: 'ACGUN', of: 'ribonucleotides' },
  dna: { letters: 'ACGTN', of: 'deoxyribonucleotides' },
} as const;

const chainId = z
  .string()
  .regex(/^[^\s\p{C}]{1,32}$/u, { error: 'must be 1 to 32 characters without white space' });

const ids = z
  .union([chainId, list(chainId, { min: 1, max: 8192 })], {
    error: 'must be a chain identifier, a list of identifiers (one for each copy) or null',
  })
  .nullish();

/** A chemical component dictionary code. Whether the component is known is found out when the input is folded. */
const ccdCode = z.string().regex(/^[A-Z0-9]{1,5}$/, {
  error: 'must be a chemical component code: 1 to 5 capital letters and digits',
});

/** Zero-indexed positions; that they lie inside the sequence is judged with the sequence. */
const modification = z.strictObject({ position: z.int().min(0), ccd: ccdCode });

/** Clients of the service send `msa: null`; the service aligns by itself (spec: "What the service does"). */
const noAlignment = z
  .unknown()
  .superRefine((value, context) => {
    if (value === null || value === undefined) return;
    const message =
      'caller-supplied alignments are unsupported; the service makes its own, so leave msa out or null';
    context.addIssue({ code: 'custom', message });
  })
  .optional();

function polymer<K extends keyof typeof alphabets>(type: K) {
  const { letters, of } = alphabets[type];
  const foreign = new RegExp(`[^${letters}]`, 'u');
  const sequence = z
    .string()
    .min(1)
    .superRefine((text, context) => {
      const at = text.search(foreign);
      if (at === -1) return;
      const letter = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
      const message = `has ${letter} at position ${at}; ${of} are the capital letters ${letters}`;
      context.addIssue({ code: 'custom', message });
    });
  return {
    type: z.literal(type),
    id: ids,
    sequence,
    modifications: list(modification, { max: 8192 }).nullish(),
    msa: noAlignment,
  };
}

interface Modified {
  readonly sequence: string;
  readonly modifications?: readonly { readonly position: number }[] | null | undefined;
}

/** Rules that need the sequence and its modifications together. */
function positionsInside({ sequence, modifications }: Modified, context: z.RefinementCtx): void {
  const seen = new Set<number>();
  for (const [index, { position }] of (modifications ?? []).entries()) {
    const path = ['modifications', index, 'position'];
    if (position >= sequence.length) {
      const message = `is ${position}, but the sequence has positions 0 to ${sequence.length - 1} (zero-indexed)`;
      context.addIssue({ code: 'custom', path, message });
    } else if (seen.has(position)) {
      const message = `is ${position}, which an earlier modification changes already; modify a position once`;
      context.addIssue({ code: 'custom', path, message });
    }
    seen.add(position);
  }
}

const ligand = z
  .strictObject({
    type: z.literal('ligand'),
    id: ids,
    smiles: z.string().min(1).max(4096).nullish(),
    ccd: list(ccdCode, { min: 1, max: 256 }).nullish(),
  })
  .superRefine(({ smiles, ccd }, context) => {
    const given = [smiles, ccd].filter((value) => value !== null && value !== undefined).length;
    if (given === 1) return;
    const message = `needs exactly one of smiles and ccd, not ${given === 0 ? 'neither' : 'both'}`;
    context.addIssue({ code: 'custom', message });
  });

/** One entry of `sequences`, discriminated by `type`. */
export const sequenceInput = z.discriminatedUnion(
  'type',
  [
    z.strictObject(polymer('protein')).superRefine(positionsInside),
    z.strictObject(polymer('rna')).superRefine(positionsInside),
    z.strictObject(polymer('dna')).superRefine(positionsInside),
    ligand,
  ],
  { error: 'must be an object whose type is "protein", "rna", "dna" or "ligand"' },
);

export type SequenceInput = z.output<typeof sequenceInput>;
