// The body of Submit (spec: "BatchSubmitRequest", "FoldMaxAccuracyRequest", "FoldAllAtomInput")
// read to a value whose every rule holds.
import { z } from 'zod';
import type { Limits } from '../../limits.ts';
import { readWireSettings, type WireSettings } from '../../wire/settings.ts';
import { type Chain, listChains } from './chain-index.ts';
import { sequenceInput } from './chains.ts';
import { checkReferences, covalentBond, distogram, pocket } from './conditioning.ts';
import { list, read } from './reading.ts';

const sumResidues = (chains: readonly Chain[]): number =>
  chains.reduce((sum, { residues }) => sum + residues, 0);

function allAtomInput(limits: Limits) {
  return z
    .strictObject({
      sequences: list(sequenceInput, { min: 1 }),
      covalent_bonds: list(covalentBond).nullish(),
      pocket: pocket.nullish(),
      distogram_conditioning: list(distogram).nullish(),
    })
    .superRefine((input, context) => {
      const chains = listChains(input.sequences);
      const entryNumbers = new Map<string, number>();
      for (const { id, entry } of chains) {
        const earlier = entryNumbers.get(id);
        if (earlier !== undefined) {
          const message = `chain identifier ${id} is used already by sequences[${earlier}]; identifiers are unique`;
          context.addIssue({ code: 'custom', path: ['sequences', entry, 'id'], message });
          return;
        }
        entryNumbers.set(id, entry);
      }
      const tokens = sumResidues(chains);
      if (tokens > limits.maxTokens) {
        const message = `have ${tokens} tokens with every copy counted; at most ${limits.maxTokens} can be folded together`;
        context.addIssue({ code: 'custom', path: ['sequences'], message });
      }
      checkReferences(input, chains, context);
    });
}

/** Spec, "What the service does": the recipe of a fold is the service's own. */
const noRecipe = (issue: { code: string; keys?: unknown }): string | undefined =>
  issue.code === 'unrecognized_keys' && Array.isArray(issue.keys)
    ? `has no field ${JSON.stringify(issue.keys[0])}; remove it (folding recipe parameters are unsupported)`
    : undefined;

function foldRequest(limits: Limits, { models }: Pick<WireSettings, 'models'>) {
  const fields = {
    model: z.enum(models),
    all_atom_input: allAtomInput(limits),
    potential_sequence_of_concern: z.boolean().default(false),
    include_pae: z.boolean().default(false),
    include_pair_chains_iptm: z.boolean().default(false),
    include_embeddings: z.boolean().default(false),
  };
  return z.strictObject(fields, { error: noRecipe });
}

function submitBody(limits: Limits, wire: Pick<WireSettings, 'models'>) {
  return z
    .strictObject({
      endpoint: z.enum(['fold_max_accuracy']),
      payload: list(foldRequest(limits, wire), { min: 1, max: limits.maxItems }),
      repeat: z.int().min(1).max(limits.maxRepeat).default(1),
    })
    .superRefine(({ payload, repeat }, context) => {
      const tasks = payload.length * repeat;
      if (tasks <= limits.maxTasks) return;
      const message = `payload (${payload.length}) times repeat (${repeat}) is ${tasks}; at most ${limits.maxTasks} tasks a batch`;
      context.addIssue({ code: 'custom', path: ['repeat'], message });
    });
}

/** One payload item, every rule checked. */
export type FoldItem = z.output<ReturnType<typeof foldRequest>>;
export type SubmitRequest = z.output<ReturnType<typeof submitBody>>;

/** Makes the reader of Submit bodies; it throws a Refusal 400 that names each mistake. */
export function submitReader(
  limits: Limits,
  wire: Pick<WireSettings, 'models'> = readWireSettings({}),
): (body: unknown) => SubmitRequest {
  const schema = submitBody(limits, wire);
  return (body) => read(schema, body);
}

/**
 * The tokens that one item counts, all copies included (spec: "every copy counts toward input
 * length and credit consumption").
 */
export function countTokens(item: FoldItem): number {
  return sumResidues(listChains(item.all_atom_input.sequences));
}

/**
 * The input with every chain's identifier spelled out, so that the fold names the chains as
 * they were checked.
 */
export function nameChains(input: FoldItem['all_atom_input']): FoldItem['all_atom_input'] {
  const names = new Map<number, string[]>();
  for (const { id, entry } of listChains(input.sequences)) {
    const own = names.get(entry);
    if (own === undefined) names.set(entry, [id]);
    else own.push(id);
  }
  return {
    ...input,
    sequences: input.sequences.map((sequence, entry) => ({ ...sequence, id: names.get(entry) })),
  };
}
