// Normalises the input of a fold: white space, case and defaults, so that equivalent inputs are
// equal. check.ts checks it.
import { normalForm } from '../plain-text.ts';
import { type Bond, readBonds } from './bonds.ts';
import { type Chain, readChain } from './chain.ts';
import type { Distogram, ItemInput, Pocket, SubmissionInput } from './input.ts';

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
  // Keyboards and file systems write an accent with its letter, or behind it.
  idempotencyKey: input.idempotencyKey == null ? null : normalForm(input.idempotencyKey, 'NFC'),
  notifyUrl: input.notify?.url ?? null,
});
