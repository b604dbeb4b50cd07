// Normalises the input of a fold: white space, case and defaults, so that equivalent inputs are
// equal. check.ts judges it.
import { executionTurns } from '../async/turn-clock.ts';
import type { SubmitFoldInput } from '../schema/submit-input.ts';

/** The input of a client (`SubmitFoldInput`). */
export type SubmissionInput = typeof SubmitFoldInput.$inferInput;
type ItemInput = SubmissionInput['items'][number];
type ChainInput = ItemInput['chains'][number];
type PolymerInput = NonNullable<ChainInput['protein']>;

type Entry<K extends 'covalentBonds' | 'distogramConditioning'> = NonNullable<ItemInput[K]>[number];
export type Modification = NonNullable<PolymerInput['modifications']>[number];
export type Bond = Entry<'covalentBonds'>;
export type Pocket = NonNullable<ItemInput['pocket']>;
export type Distogram = Entry<'distogramConditioning'>;

/** The polymers, by the name of their input field, which is also their wire name. */
export type PolymerType = 'protein' | 'rna' | 'dna';

export interface Polymer {
  readonly type: PolymerType;
  /** One id for each copy; null when the client left naming to the upstream. */
  readonly ids: readonly string[] | null;
  /** Upper case, no white space. */
  readonly sequence: string;
  readonly modifications: readonly Modification[];
  /** Number of FASTA headers in the text, 2 for more than one, which is a mistake. */
  readonly headers: number;
}
export interface Ligand {
  readonly type: 'ligand';
  readonly ids: readonly string[] | null;
  readonly smiles: string | null;
  readonly ccd: readonly string[] | null;
}
export type Chain = Polymer | Ligand;

/** Number of chains of an entry: one for each id, and one without ids. */
export const copiesOf = ({ ids }: Chain): number => Math.max(1, ids?.length ?? 1);

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
}

const upper = (text: string): string =>
  /[^ -~]/.test(text) ? text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()) : text.toUpperCase();

const withoutSpace = (text: string): string => (/\s/.test(text) ? text.replace(/\s+/g, '') : text);

/** Characters cleaned in one step. */
const CHUNK = 2 ** 18;

/**
 * The sequence without FASTA header, white space and final `*`, ASCII letters in upper case; and
 * the number of headers, 2 for more than one.
 */
async function cleanSequence(text: string, pause: Pause): Promise<{ sequence: string; headers: number }> {
  const later = text.startsWith('>') ? -1 : text.indexOf('\n>');
  const header = text.startsWith('>') ? 0 : later < 0 ? -1 : later + 1;
  let body = text;
  let headers = 0;
  if (header >= 0) {
    const end = text.indexOf('\n', header);
    const rest = end < 0 ? '' : text.slice(end);
    headers = rest.includes('\n>') ? 2 : 1;
    body = text.slice(0, header) + rest;
  }
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += CHUNK) {
    if (at > 0) await pause();
    parts.push(upper(withoutSpace(body.slice(at, at + CHUNK))));
  }
  const sequence = parts.join('');
  return { sequence: sequence.endsWith('*') ? sequence.slice(0, -1) : sequence, headers };
}

const readPolymer = async (type: PolymerType, input: PolymerInput, pause: Pause): Promise<Polymer> => ({
  type,
  ids: input.ids ?? null,
  ...(await cleanSequence(input.sequence, pause)),
  modifications: (input.modifications ?? []).map(({ position, ccd }) => ({
    position,
    ccd: ccd.trim().toUpperCase(),
  })),
});

async function readChain({ protein, rna, dna, ligand }: ChainInput, pause: Pause): Promise<Chain> {
  if (protein !== undefined) return readPolymer('protein', protein, pause);
  if (rna !== undefined) return readPolymer('rna', rna, pause);
  if (dna !== undefined) return readPolymer('dna', dna, pause);
  return {
    type: 'ligand',
    ids: ligand.ids ?? null,
    smiles: ligand.smiles?.trim() ?? null,
    ccd: ligand.ccd?.map((code) => code.trim().toUpperCase()) ?? null,
  };
}

async function readChains(chains: readonly ChainInput[], pause: Pause): Promise<Chain[]> {
  const read: Chain[] = [];
  for (const chain of chains) {
    await pause();
    read.push(await readChain(chain, pause));
  }
  return read;
}

const readItem = async (input: ItemInput, pause: Pause): Promise<Item> => ({
  name: input.name ?? null,
  chains: await readChains(input.chains, pause),
  covalentBonds: input.covalentBonds ?? [],
  pocket: input.pocket ?? null,
  distogramConditioning: input.distogramConditioning ?? [],
  includePae: input.includePae ?? false,
  includePairChainsIptm: input.includePairChainsIptm ?? false,
  includeEmbeddings: input.includeEmbeddings ?? false,
  potentialSequenceOfConcern: input.potentialSequenceOfConcern ?? false,
});

/**
 * Normalises an input: fills in defaults, removes white space from sequences and makes them upper
 * case.
 *
 * @param defaultModel - the model of an input that names none
 * @param pause - awaited between items
 */
export async function readSubmission(
  input: SubmissionInput,
  defaultModel: string,
  pause: Pause,
): Promise<Submission> {
  const items: Item[] = [];
  for (const item of input.items) {
    await pause();
    items.push(await readItem(item, pause));
  }
  return {
    items,
    repeat: input.repeat ?? 1,
    model: input.model ?? defaultModel,
    label: input.label ?? null,
    idempotencyKey: input.idempotencyKey ?? null,
  };
}

/** Letters that weigh as much as one list entry. */
const ENTRY = 16;

/** The size of a check: letters of sequences and SMILES, and list entries, weighed as letters. */
export function weightOf({ items }: SubmissionInput): number {
  let weight = 0;
  for (const { chains, covalentBonds, pocket, distogramConditioning } of items) {
    for (const { protein, rna, dna, ligand } of chains) {
      const polymer = protein ?? rna ?? dna;
      weight += (polymer?.sequence.length ?? 0) + (ligand?.smiles?.length ?? 0);
      const lists = [polymer?.ids, polymer?.modifications, ligand?.ids, ligand?.ccd];
      weight += ENTRY * lists.reduce((sum, list) => sum + (list?.length ?? 0), 1);
    }
    weight += ENTRY * (1 + (covalentBonds?.length ?? 0) + (pocket?.contacts.length ?? 0));
    for (const { distogram } of distogramConditioning ?? [])
      weight += 4 * distogram.reduce((sum, row) => sum + 1 + row.length, 0);
  }
  return weight;
}

/** Undefined while the check may continue, otherwise a promise to await. */
export type Pause = () => Promise<void> | undefined;

/** Shares the turns of the event loop with executions: a check is a part of one. */
export const createPause =
  (turns = executionTurns): Pause =>
  () =>
    turns.hasTime() ? undefined : turns.nextTurn();
