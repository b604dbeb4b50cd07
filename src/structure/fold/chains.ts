// The chains of a folding result: their tokens, kind, sequence and confidence.
import { hash } from 'node:crypto';
import { findResidue, type PolymerKind } from '../residues.ts';
import type { FoldedComplex, Numbers } from './fields.ts';
import { describeMisfit, quote } from './misfit.ts';
import { atomRange, createRowFinder, type TokenSpan } from './rows.ts';

/** One chain. */
export interface FoldedChain extends TokenSpan {
  readonly id: string;
  /**
   * One-letter codes of a polymer: the parent's for a modified residue, X if unknown; null for a
   * ligand.
   */
  readonly sequence: string | null;
  /** MD5 of a protein's sequence, as the Atlas names it; null for all other chains. */
  readonly proteinHash: string | null;
  /** 0 to 1; null where no token has a value. */
  readonly meanPlddt: number | null;
}

/** Mean of the values that are there; null when there are none. */
export function mean(values: Iterable<number | null | undefined>): number | null {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (value === null || value === undefined) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? null : sum / count;
}

/**
 * Where chains begin: where the chain number changes, or without numbers after each null in the
 * pLDDT.
 */
function findStarts({ chainId, sequence }: FoldedComplex, plddt: Numbers | undefined): number[] {
  if (chainId.length === sequence.length) {
    return sequence.flatMap((_, t) => (t === 0 || chainId[t] !== chainId[t - 1] ? [t] : []));
  }
  const breaks = (plddt ?? []).flatMap((value, i) => (value === null ? [i] : []));
  const fits = plddt !== undefined && plddt.length - breaks.length === sequence.length;
  return [0, ...(fits ? breaks.map((slot, k) => slot - k) : [])].filter((t) => t < sequence.length);
}

/**
 * A table's entry for a name or number; undefined for any other key, which may not convert to text.
 */
const lookUp = (table: Readonly<Record<string, unknown>>, key: unknown): unknown =>
  typeof key === 'number' || typeof key === 'string' ? table[key] : undefined;

/** The name of a chain; undefined where the result has lost it. */
function readChainName({ chainId, chainLookup }: FoldedComplex, start: number): string | undefined {
  const id = chainId[start];
  const name = lookUp(chainLookup, id) ?? (typeof id === 'string' ? id : undefined);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** The name of a single chain whose result does not say it, and whose submission is not known. */
export const ONLY_CHAIN = 'A';

interface ChainNames {
  readonly names: readonly string[];
  /** Whether the result does not name its only chain. */
  readonly isNameless?: boolean;
  /** Why the names are not known; null where they are. */
  readonly misfit: string | null;
}

/** Why names do not tell chains apart; null where each stands once. */
function findRepeatedName(names: readonly string[]): string | null {
  const seen = new Set<string>();
  const repeated = names.find((name) => seen.size === seen.add(name).size);
  if (repeated === undefined) return null;
  const path = 'complex.metadata.chain_lookup';
  return describeMisfit(path, 'one name for each chain and its tokens together', `${quote(repeated)} twice`);
}

/**
 * The names of the chains. Only a single chain may lack its number and name, as in older results:
 * of several it would not be known which is which.
 *
 * @param pairCount - rows of the matrix of pairs of chains
 */
function readChainNames(complex: FoldedComplex, begins: readonly number[], pairCount: number): ChainNames {
  const { chainId, chainLookup, sequence } = complex;
  const known = Object.values(chainLookup);
  const isSingle = Math.max(begins.length, known.length, pairCount) === 1;
  const names = begins.map((start) => readChainName(complex, start));
  const lost = names.indexOf(undefined);
  const isNumbered = chainId.length === sequence.length || (isSingle && chainId.length === 0);
  if (isNumbered && lost < 0) {
    const misfit = findRepeatedName(names.map(String));
    return { names: misfit === null ? names.map(String) : [], misfit };
  }
  if (isNumbered && isSingle) {
    const [name] = known;
    if (typeof name === 'string' && name !== '') return { names: [name], misfit: null };
    return { names: [ONLY_CHAIN], misfit: null, isNameless: true };
  }
  const misfit = isNumbered
    ? describeMisfit(
        'complex.metadata.chain_lookup',
        `a name for each of the ${begins.length} chains`,
        `none for chain ${lost}`,
      )
    : describeMisfit(
        'complex.chain_id',
        `the chain of each of the ${sequence.length} tokens`,
        `${chainId.length}`,
      );
  return { names: [], misfit };
}

const KINDS = ['protein', 'rna', 'dna', 'ligand'] as const;

/** The kind by the entity table; by the names of the tokens where the table does not say. */
function readKind(complex: FoldedComplex, entity: unknown, { kind, tokenStart, tokenEnd }: TokenSpan) {
  const said = lookUp(complex.entityLookup, entity);
  const word = typeof said === 'string' ? said.toLowerCase() : '';
  if (/non.?polymer/.test(word)) return 'ligand';
  const stated = KINDS.find((one) => word.includes(one));
  if (stated !== undefined || kind !== 'ligand' || !word.includes('polymer')) return stated ?? kind;
  const names = complex.sequence.slice(tokenStart, tokenEnd);
  return names.map((name) => findResidue(name)?.kind).find((one) => one !== undefined) ?? 'protein';
}

/** The value that stands most often in a list; of equal ones the first. */
function findMostFrequent<T>(list: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of list) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

/**
 * The kind by the names of the tokens. Hetero atoms distinguish a free amino acid, or a ligand atom
 * called C, from a residue of that name; a chain of modified residues only is a polymer when each
 * has several atoms.
 */
function guessKind(complex: FoldedComplex, start: number, end: number): FoldedChain['kind'] {
  const votes: PolymerKind[] = [];
  const loose: PolymerKind[] = [];
  for (let t = start; t < end; t++) {
    const known = findResidue(complex.sequence[t] ?? '');
    if (known === undefined) continue;
    const [first, last] = atomRange(complex, t);
    // A residue without coordinates has no atom of its own to ask.
    const isHetero = last > first && complex.atomHetero[first] === true;
    if (known.standard && !isHetero) votes.push(known.kind);
    else if (last - first > 1) loose.push(known.kind);
  }
  const length = end - start;
  const isModified = length > 1 && loose.length === length;
  return findMostFrequent(votes) ?? (isModified ? findMostFrequent(loose) : undefined) ?? 'ligand';
}

export interface FoldedChains {
  /** In token order; their ids are empty where there is a misfit. */
  readonly chains: readonly Omit<FoldedChain, 'meanPlddt'>[];
  /** Why their names are not known; null where they are. */
  readonly misfit: string | null;
  /** Whether the result does not name its only chain. */
  readonly isNameless: boolean;
}

/**
 * Reads the chains.
 *
 * @param plddt - with nulls at chain breaks, where tokens have no chain numbers
 * @param entityId - one a row
 * @param pairCount - rows of the matrix of pairs of chains
 */
export function readChains(
  complex: FoldedComplex,
  plddt: Numbers | undefined,
  entityId: readonly unknown[] | undefined,
  pairCount: number,
): FoldedChains {
  const begins = findStarts(complex, plddt);
  const spans = begins.map((tokenStart, index): TokenSpan => {
    const tokenEnd = begins[index + 1] ?? complex.sequence.length;
    return { tokenStart, tokenEnd, kind: guessKind(complex, tokenStart, tokenEnd) };
  });
  const rows = entityId && createRowFinder(complex, spans)(entityId.length);
  const { names: ids, misfit, isNameless = false } = readChainNames(complex, begins, pairCount);
  const chains = spans.map((span, index) => {
    const { tokenStart, tokenEnd } = span;
    const row = rows?.[tokenStart];
    const kind = readKind(complex, row === undefined ? undefined : entityId?.[row], span);
    const names = complex.sequence.slice(tokenStart, tokenEnd);
    const sequence =
      kind === 'ligand' ? null : names.map((name) => findResidue(name)?.letter ?? 'X').join('');
    return {
      id: ids[index] ?? '',
      kind,
      tokenStart,
      tokenEnd,
      sequence,
      proteinHash: kind === 'protein' && sequence !== null ? hash('md5', sequence) : null,
    };
  });
  return { chains, misfit, isNameless };
}
