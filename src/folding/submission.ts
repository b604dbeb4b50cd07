// What is asked to be folded, cleaned: the GraphQL input with white space, case and defaults settled, so that two
// inputs that mean the same are the same. It judges nothing (check.ts does) and must not know GraphQL or the wire.

type Maybe<T> = T | null | undefined;

/** The input as a client gives it (`SubmitFoldInput`). */
export interface SubmissionInput {
  readonly items: readonly ItemInput[];
  readonly repeat?: Maybe<number>;
  readonly model?: Maybe<string>;
  readonly label?: Maybe<string>;
  readonly idempotencyKey?: Maybe<string>;
}
interface ItemInput {
  readonly name?: Maybe<string>;
  readonly chains: readonly ChainInput[];
  readonly covalentBonds?: Maybe<readonly Bond[]>;
  readonly pocket?: Maybe<Pocket>;
  readonly distogramConditioning?: Maybe<readonly Distogram[]>;
  readonly includePae?: Maybe<boolean>;
  readonly includePairChainsIptm?: Maybe<boolean>;
  readonly includeEmbeddings?: Maybe<boolean>;
  readonly potentialSequenceOfConcern?: Maybe<boolean>;
}
interface ChainInput {
  readonly protein?: Maybe<PolymerInput>;
  readonly rna?: Maybe<PolymerInput>;
  readonly dna?: Maybe<PolymerInput>;
  readonly ligand?: Maybe<LigandInput>;
}
interface PolymerInput {
  readonly ids?: Maybe<readonly string[]>;
  readonly sequence: string;
  readonly modifications?: Maybe<readonly Modification[]>;
}
interface LigandInput {
  readonly ids?: Maybe<readonly string[]>;
  readonly smiles?: Maybe<string>;
  readonly ccd?: Maybe<readonly string[]>;
}

export interface Modification {
  /** 0-based. */
  readonly position: number;
  readonly ccd: string;
}
export interface Bond {
  readonly chainId1: string;
  readonly residueIndex1: number;
  readonly atomIndex1: number;
  readonly chainId2: string;
  readonly residueIndex2: number;
  readonly atomIndex2: number;
}
export interface Pocket {
  readonly binderChainId: string;
  readonly contacts: readonly { readonly chainId: string; readonly residueIndex: number }[];
}
export interface Distogram {
  readonly chainId: string;
  readonly distogram: readonly (readonly number[])[];
}

/** The polymers, by the name of their input field, which is also their wire name. */
export type PolymerType = 'protein' | 'rna' | 'dna';

export interface Polymer {
  readonly type: PolymerType;
  /** One id for each copy; null when the caller left naming to the upstream. */
  readonly ids: readonly string[] | null;
  /** Upper case, no white space. */
  readonly sequence: string;
  readonly modifications: readonly Modification[];
  /** How many FASTA headers the text held; more than one is a mistake. */
  readonly headers: number;
}
export interface Ligand {
  readonly type: 'ligand';
  readonly ids: readonly string[] | null;
  readonly smiles: string | null;
  readonly ccd: readonly string[] | null;
}
export type Chain = Polymer | Ligand;

/** How many chains an entry stands for: one for each id, and one without any. */
export const copiesOf = ({ ids }: Chain): number => Math.max(1, ids?.length ?? 1);

export interface Item {
  readonly name: string | null;
  /** Null where the input named no kind of chain, or several. */
  readonly chains: readonly (Chain | null)[];
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

/** A sequence without FASTA header, white space and final `*`, in upper case; and how many headers there were. */
function cleanSequence(text: string): { sequence: string; headers: number } {
  const lines = text.includes('>') ? text.split(/\r?\n/) : [text];
  const kept = lines.filter((line) => !line.startsWith('>'));
  const sequence = kept.join('').replace(/\s+/g, '').toUpperCase().replace(/\*$/, '');
  return { sequence, headers: lines.length - kept.length };
}

const readPolymer = (type: PolymerType, input: PolymerInput): Polymer => ({
  type,
  ids: input.ids ?? null,
  ...cleanSequence(input.sequence),
  modifications: (input.modifications ?? []).map(({ position, ccd }) => ({
    position,
    ccd: ccd.trim().toUpperCase(),
  })),
});

function readChain({ protein, rna, dna, ligand }: ChainInput): Chain | null {
  const given: Chain[] = [];
  if (protein) given.push(readPolymer('protein', protein));
  if (rna) given.push(readPolymer('rna', rna));
  if (dna) given.push(readPolymer('dna', dna));
  if (ligand) {
    given.push({
      type: 'ligand',
      ids: ligand.ids ?? null,
      smiles: ligand.smiles?.trim() ?? null,
      ccd: ligand.ccd?.map((code) => code.trim().toUpperCase()) ?? null,
    });
  }
  return given.length === 1 ? (given[0] ?? null) : null;
}

const readItem = (input: ItemInput): Item => ({
  name: input.name ?? null,
  chains: input.chains.map(readChain),
  covalentBonds: input.covalentBonds ?? [],
  pocket: input.pocket ?? null,
  distogramConditioning: input.distogramConditioning ?? [],
  includePae: input.includePae ?? false,
  includePairChainsIptm: input.includePairChainsIptm ?? false,
  includeEmbeddings: input.includeEmbeddings ?? false,
  potentialSequenceOfConcern: input.potentialSequenceOfConcern ?? false,
});

/**
 * Cleans an input: defaults filled in, sequences without white space and in upper case.
 *
 * @param defaultModel - the model of an input that names none
 */
export const readSubmission = (input: SubmissionInput, defaultModel: string): Submission => ({
  items: input.items.map(readItem),
  repeat: input.repeat ?? 1,
  model: input.model ?? defaultModel,
  label: input.label ?? null,
  idempotencyKey: input.idempotencyKey ?? null,
});
