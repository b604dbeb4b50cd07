// Compares the chains of a result with those that were submitted, as far as the ledger knows these.
// The contract leaves open in which order chains stand, how unnamed chains are called, how many
// tokens a ligand has, and what modified and unknown residues are called.
import type { LedgerChain } from '../../store/ledger/ledger.ts';
import type { FoldedChain } from '../../structure/fold/chains.ts';
import { type FoldingResult, mapMisfits } from '../../structure/fold/result.ts';
import { hashFixedResidues } from '../../submission/fixed-residues.ts';
import { LETTERS } from '../../submission/polymers.ts';

/** A chain of a result, and whether its kind is stated and not only guessed. */
interface ResultChain {
  readonly chain: FoldedChain;
  readonly hasFlags: boolean;
}

const KINDS = { PROTEIN: 'protein', RNA: 'rna', DNA: 'dna', LIGAND: 'ligand' } as const;

const NAMES = { protein: 'a protein', rna: 'RNA', dna: 'DNA', ligand: 'a ligand' } as const;

const countTokens = ({ tokenStart, tokenEnd }: FoldedChain): number => tokenEnd - tokenStart;

const describe = (kind: FoldedChain['kind'], length: number): string =>
  kind === 'ligand' ? NAMES.ligand : `${NAMES[kind]} of ${length} residue${length === 1 ? '' : 's'}`;

/** The hash of the residues that are fixed; undefined where the result does not tell them all. */
function hashResidues(
  { kind, sequence }: FoldedChain,
  { openPositions }: NonNullable<LedgerChain['residues']>,
): string | undefined {
  if (kind === 'ligand' || sequence === null) return undefined;
  const open = new Set(openPositions);
  for (let at = 0; at < sequence.length; at += 1)
    if (!open.has(at) && !LETTERS[kind].includes(sequence.charAt(at))) return undefined;
  return hashFixedResidues(sequence, openPositions);
}

/** Says that another chain was submitted; undefined where nothing is contradicted. */
function findDifference(submitted: LedgerChain, { chain, hasFlags }: ResultChain): string | undefined {
  const kind = KINDS[submitted.kind];
  const { length, residues } = submitted;
  const count = countTokens(chain);
  const values = `${describe(kind, length)} was submitted, and the result has ${describe(chain.kind, count)}`;
  // A component that is an amino acid or a nucleotide looks like a polymer where no atom is marked.
  if (kind === 'ligand') return chain.kind === 'ligand' || count === 1 || !hasFlags ? undefined : values;
  if (count !== length) return values;
  if (residues === undefined) return undefined;
  if (chain.kind !== kind) return residues.openPositions.length < length ? values : undefined;
  const seen = hashResidues(chain, residues);
  return seen === undefined || seen === residues.hash
    ? undefined
    : `${describe(kind, length)} with the hash ${residues.hash} was submitted, and the result has one with ` +
        `the hash ${seen}`;
}

/** Chains that fit few others are looked for first, so that looser ones do not take their place. */
const looseness = ({ kind, residues }: LedgerChain): number =>
  kind === 'LIGAND' ? 2 : residues === undefined ? 1 : 0;

/** Finds a chain that was left to the service to name and is in the result under no name. */
function findMissing(
  unnamed: readonly LedgerChain[],
  others: readonly ResultChain[],
): { readonly missing: LedgerChain; readonly left: readonly ResultChain[] } | undefined {
  const left = new Set(others);
  for (const submitted of unnamed.toSorted((a, b) => looseness(a) - looseness(b))) {
    const found = [...left].find((one) => findDifference(submitted, one) === undefined);
    if (found === undefined) return { missing: submitted, left: [...left] };
    left.delete(found);
  }
  return undefined;
}

const list = (names: readonly string[]): string => names.slice(0, 20).join(', ');

/** Names the chain that is not the submitted one, and both values; undefined where all may be. */
function findForeignChain(fold: FoldingResult, submitted: readonly LedgerChain[]): string | undefined {
  const { chains, complex } = fold;
  const hasFlags = (complex?.atomHetero.length ?? 0) > 0;
  const byId = new Map(chains.map((chain) => [chain.id, { chain, hasFlags }]));
  const named = submitted.flatMap((chain) => chain.ids.map((id) => ({ id, chain })));
  const unnamed = submitted.filter(({ ids }) => ids.length === 0);
  const ids = chains.map(({ id }) => id);
  for (const { id, chain } of named) {
    const found = byId.get(id);
    if (found === undefined)
      return `chain ${id} was submitted as ${describe(KINDS[chain.kind], chain.length)}, and the result has only ${list(ids)}`;
    const difference = findDifference(chain, found);
    if (difference !== undefined) return `as chain ${id} ${difference}`;
    byId.delete(id);
  }
  const expected = named.length + unnamed.length;
  if (chains.length !== expected)
    return `${expected} chain${expected === 1 ? ' was' : 's were'} submitted, and the result has ${chains.length}: ${list(ids)}`;
  const lost = findMissing(unnamed, [...byId.values()]);
  if (lost === undefined) return undefined;
  const { missing, left } = lost;
  const [only] = left;
  const difference = left.length === 1 && only !== undefined ? findDifference(missing, only) : undefined;
  return difference === undefined
    ? `a chain without a name was submitted as ${describe(KINDS[missing.kind], missing.length)}, and none of ` +
        `the chains ${list(left.map(({ chain }) => chain.id))} of the result is that`
    : `as chain ${only?.chain.id} ${difference}`;
}

/**
 * The result, or one of which nothing can be trusted where its chains are not the submitted ones.
 * A named chain must come under its name.
 *
 * @param submitted - the chains of its submission; none where these are not known
 */
export function compareChains(fold: FoldingResult, submitted: readonly LedgerChain[]): FoldingResult {
  if (submitted.length === 0 || fold.chains.length === 0 || fold.misfits.chains !== null) return fold;
  const difference = findForeignChain(fold, submitted);
  if (difference === undefined) return fold;
  const misfit = `The upstream's folding result is not of what was submitted: ${difference}.`;
  return { ...fold, misfits: mapMisfits(fold.misfits, () => misfit) };
}
