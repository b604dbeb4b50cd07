// The chains of one folding input (spec: "Sequence inputs", "Modification"): field rules and
// alphabets.
import { z } from 'zod';
import { list } from './reading.ts';

const chainId = z.string().regex(/\S/, { error: 'must be a chain identifier, not blank' });

const ids = z
  .union([chainId, list(chainId)], {
    error: 'must be a chain identifier, a list of identifiers (one for each copy) or null',
  })
  .nullish();

/**
 * A chemical component dictionary code. Whether the component is known is found out when the input
 * is folded.
 */
const ccdCode = z.string().regex(/^[A-Z0-9]{1,5}$/, {
  error: 'must be a chemical component code: 1 to 5 capital letters and digits',
});

/** Zero-indexed positions; that they lie inside the sequence is judged with the sequence. */
const modification = z.strictObject({ position: z.int().min(0), ccd: ccdCode });

/**
 * Clients of the service send `msa: null`; the service aligns by itself (spec: "What the service
 * does").
 */
const noAlignment = z
  .unknown()
  .superRefine((value, context) => {
    if (value === null || value === undefined) return;
    const message =
      'caller-supplied alignments are unsupported; the service makes its own, so leave msa out or null';
    context.addIssue({ code: 'custom', message });
  })
  .optional();

/**
 * The spec names no alphabet: letters that name no residue are folded as unknown ones, and what is
 * no letter is refused.
 */
const sequenceText = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const at = text.search(/[^A-Za-z]/u);
    if (at === -1) return;
    const character = JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
    context.addIssue({ code: 'custom', message: `has ${character} at position ${at}, which is no letter` });
  })
  .transform((text) => text.toUpperCase());

const polymer = <K extends 'protein' | 'rna' | 'dna'>(type: K) => ({
  type: z.literal(type),
  id: ids,
  sequence: sequenceText,
  modifications: list(modification).nullish(),
  msa: noAlignment,
});

interface Modified {
  readonly sequence: string;
  readonly modifications?: readonly { readonly position: number }[] | null | undefined;
}

/**
 * The rule that needs the sequence and its modifications together. Of two at one position the last
 * one counts.
 */
function positionsInside({ sequence, modifications }: Modified, context: z.RefinementCtx): void {
  for (const [index, { position }] of (modifications ?? []).entries()) {
    if (position < sequence.length) continue;
    const path = ['modifications', index, 'position'];
    const message = `is ${position}, but the sequence has positions 0 to ${sequence.length - 1} (zero-indexed)`;
    context.addIssue({ code: 'custom', path, message });
  }
}

/** The service folds `ccd` where `smiles` is given as well. */
const ligand = z
  .strictObject({
    type: z.literal('ligand'),
    id: ids,
    smiles: z.string().nullish(),
    ccd: list(ccdCode).nullish(),
  })
  .superRefine(({ smiles, ccd }, context) => {
    if (smiles || ccd?.length) return;
    context.addIssue({ code: 'custom', message: 'needs smiles or ccd, and has neither' });
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
