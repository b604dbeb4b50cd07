// Normalises the input of a fold: white space, case and defaults, so that equivalent inputs are
// equal. check.ts checks it.
import { type Bond, readBonds } from './bonds.ts';
import type {
  ChainInput,
  Distogram,
  ItemInput,
  Modification,
  Pocket,
  PolymerInput,
  SubmissionInput,
} from './input.ts';
import { type PastedSequence, readPastedSequence, splitHeader } from './pasted-text.ts';

/** The polymers, by the name of their input field, which is also their wire name. */
export type PolymerType = 'protein' | 'rna' | 'dna';

export interface Polymer extends PastedSequence {
  readonly type: PolymerType;
  /** One id for each copy; null when the client left naming to the upstream. */
  readonly ids: readonly string[] | null;
  readonly modifications: readonly Modification[];
}
export interface Ligand {
  readonly type: 'ligand';
  readonly ids: readonly string[] | null;
  readonly smiles: string | null;
  readonly ccd: readonly string[] | null;
}
export type Chain = Polymer | Ligand;

/** Number of chains of an entry: one for each id, and one without ids. */
export const copyCount = ({ ids }: Chain): number => Math.max(1, ids?.length ?? 1);

export interface Item {
  readonly name: string | null;
  readonly chains: readonly Chain[];
  readonly covalentBonds: readonly Bond[];
  readonly pocket: Pocket | null;
  readonly distogramConditioning: readonly Distogram[];
  readonly includePae: boolean;
  readonly includePairChainsIptm: boolean;
  readonly includeEmbeddings: boolean;
  readonly potentialSequenceOfConcern: boolean;
}
export interface Submission {
  readonly items: readonly Item[];
  readonly repeat: number;
  readonly model: string;
  readonly label: string | null;
  readonly idempotencyKey: string | null;
  readonly notifyUrl: string | null;
}

function readPolymer(type: PolymerType, input: PolymerInput): Polymer {
  const modifications = (input.modifications ?? []).map(({ position, ccd }) => ({
    position,
    ccd: ccd.trim().toUpperCase(),
  }));
  return { type, ids: input.ids ?? null, ...readPastedSequence(input.sequence), modifications };
}

function readChain({ protein, rna, dna, ligand }: ChainInput): Chain {
  if (protein !== undefined) return readPolymer('protein', protein);
  if (rna !== undefined) return readPolymer('rna', rna);
  if (dna !== undefined) return readPolymer('dna', dna);
  return {
    type: 'ligand',
    ids: ligand.ids ?? null,
    // Forms send an empty text for what is left out.
    smiles: splitHeader(ligand.smiles ?? '').body.trim() || null,
    ccd: ligand.ccd?.map((code) => splitHeader(code).body.trim().toUpperCase()) ?? null,
  };
}

function readItem(input: ItemInput): Item {
  const chains = input.chains.map(readChain);
  return {
    name: input.name ?? null,
    chains,
    covalentBonds: readBonds(input.covalentBonds ?? [], chains),
    pocket: input.pocket ?? null,
    distogramConditioning: input.distogramConditioning ?? [],
    includePae: input.includePae ?? false,
    includePairChainsIptm: input.includePairChainsIptm ?? false,
    includeEmbeddings: input.includeEmbeddings ?? false,
    potentialSequenceOfConcern: input.potentialSequenceOfConcern ?? false,
  };
}

/**
 * Normalises an input: fills in defaults, removes white space from sequences and makes them upper
 * case.
 *
 * @param defaultModel - the model of an input that names none
 */
export function readSubmission(input: SubmissionInput, defaultModel: string): Submission {
  return { ...readEnvelope(input, defaultModel), items: input.items.map(readItem) };
}

/** Reads all but the items, which are left out. */
export const readEnvelope = (input: SubmissionInput, defaultModel: string): Submission => ({
  items: [],
  repeat: input.repeat ?? 1,
  model: input.model ?? defaultModel,
  label: input.label ?? null,
  idempotencyKey: input.idempotencyKey ?? null,
  notifyUrl: input.notify?.url ?? null,
});
