// Confidence files that other programs read: confidences.json and summary_confidences.json as
// AlphaFold 3 writes them (its docs/output.md), and the PAE of one chain as AlphaFold DB has it.
// Large files come in pieces.
import { findResidue } from '../residues.ts';
import { mean } from './chains.ts';
import type { FoldedComplex } from './fields.ts';
import { blockMin, type Matrix, type RowOffsets } from './matrix.ts';
import type { FoldingResult } from './result.ts';
import { atomRange, heavyAtoms, readPosition } from './rows.ts';

/** A file as pieces of its text, or why there is none. */
export type ConfidenceFile =
  | { readonly ok: true; readonly pieces: Iterable<string> }
  | { readonly ok: false; readonly reason: string };

/** Why a file of errors cannot be written. */
export const NO_PAE = 'The result has no aligned error; it is made with includePae.';

/** Characters of a piece at least, but for the last one. */
const PIECE_LENGTH = 65_536;
/** The scale of AlphaFold's errors ends here; AlphaFold DB states it with each matrix. */
const LARGEST_PAE = 31.75;

/** Joins texts to pieces that are worth a write. */
export function* joinPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** Texts of errors by their hundredths, because a matrix has millions of them. */
const ERROR_TEXTS: readonly string[] = Array.from({ length: 4096 }, (_, hundredths) =>
  String(hundredths / 100),
);

/** An error with at most two decimals; `null` where there is none. */
export function errorText(error: number | undefined): string {
  const hundredths = Math.round((error ?? Number.NaN) * 100);
  return ERROR_TEXTS[hundredths] ?? (Number.isNaN(hundredths) ? 'null' : String(hundredths / 100));
}

/** The rows and columns of a matrix as JSON, by their places in it. */
function* matrixTexts({ columnCount, cells }: Matrix, places: readonly number[]): Generator<string> {
  yield '[';
  for (const [i, row] of places.entries()) {
    const texts = places.map((column) => errorText(cells[row * columnCount + column]));
    yield `${i === 0 ? '' : ',\n'}[${texts.join(',')}]`;
  }
  yield ']';
}

/** A token of AlphaFold 3: a residue, or an atom of a ligand or modified residue. */
interface Token {
  readonly chain: string;
  readonly residue: number;
  /** Its row in the PAE as it came. */
  readonly paeRow: number;
}

interface AtomsAndTokens {
  /** The chain of each atom of structure.cif, in its order, and its pLDDT, 0 to 100. */
  readonly atomChains: readonly string[];
  readonly atomPlddts: readonly (number | null)[];
  readonly tokens: readonly Token[];
}

/**
 * The rows of the atoms of a token: one for all, or one for each heavy atom, whose hydrogens share
 * it.
 */
function findAtomRows(
  complex: FoldedComplex,
  token: number,
  offsets: RowOffsets | null,
): Map<number, number> {
  const [first = 0, next = 0] = [offsets?.[token], offsets?.[token + 1]];
  const [start, end] = atomRange(complex, token);
  const heavy = new Set(next - first > 1 ? heavyAtoms(complex, token) : []);
  const rows = new Map<number, number>();
  let row = first - 1;
  for (let atom = start; atom < end; atom++) {
    if (heavy.has(atom)) row += 1;
    rows.set(atom, Math.max(first, row));
  }
  return rows;
}

/** Leaves out atoms without a position, as structure.cif does. */
function readTokens({ chains, plddt, paeOffsets }: FoldingResult, complex: FoldedComplex): AtomsAndTokens {
  const atomChains: string[] = [];
  const atomPlddts: (number | null)[] = [];
  const tokens: Token[] = [];
  for (const { id, kind, tokenStart, tokenEnd } of chains) {
    for (let token = tokenStart; token < tokenEnd; token++) {
      const isByAtom = kind === 'ligand' || findResidue(complex.sequence[token] ?? '')?.standard !== true;
      const place = { chain: id, residue: token - tokenStart + 1 };
      const rows = [...findAtomRows(complex, token, paeOffsets)].filter(
        ([atom]) => readPosition(complex.atomPositions[atom]) !== undefined,
      );
      for (const [atom] of rows) {
        const unit = plddt.atoms[atom] ?? plddt.tokens[token] ?? null;
        atomChains.push(id);
        atomPlddts.push(unit === null ? null : Number((unit * 100).toFixed(2)));
      }
      const ownRows = isByAtom ? rows : rows.slice(0, 1);
      for (const [, paeRow] of ownRows) tokens.push({ ...place, paeRow });
    }
  }
  return { atomChains, atomPlddts, tokens };
}

function* confidenceTexts(
  { atomChains, atomPlddts, tokens }: AtomsAndTokens,
  pae: Matrix | undefined,
): Generator<string> {
  yield `{"atom_chain_ids": ${JSON.stringify(atomChains)},\n"atom_plddts": ${JSON.stringify(atomPlddts)},\n`;
  if (pae !== undefined) {
    yield '"pae": ';
    yield* matrixTexts(
      pae,
      tokens.map(({ paeRow }) => paeRow),
    );
    yield ',\n';
  }
  yield `"token_chain_ids": ${JSON.stringify(tokens.map(({ chain }) => chain))},\n`;
  yield `"token_res_ids": ${JSON.stringify(tokens.map(({ residue }) => residue))}}\n`;
}

/**
 * Writes confidences.json of AlphaFold 3. Atoms are those of structure.cif in its order; `pae` is
 * left out where the result has none, and `contact_probs` always.
 */
export function writeConfidences(fold: FoldingResult): ConfidenceFile {
  const { complex, atomCount, raw } = fold;
  if (complex === undefined || atomCount === 0)
    return { ok: false, reason: 'The result holds no structure.' };
  const texts = confidenceTexts(readTokens(fold, complex), fold.pae ? raw.matrices.pae : undefined);
  return { ok: true, pieces: joinPieces(texts) };
}

/** A score of chain i (row) and chain k (column), in the order of the chains. */
type PairMatrix = (number | null)[][];

/** The matrix of a score over the chains; null where no pair has the score. */
function toChainMatrix(
  { chains }: FoldingResult,
  valueAt: (i: number, k: number) => number | null,
): PairMatrix | null {
  const rows = chains.map((_, i) => chains.map((_chain, k) => valueAt(i, k)));
  return rows.flat().some((value) => value !== null) ? rows : null;
}

function pairIptm(fold: FoldingResult): PairMatrix | null {
  const { chains, chainPairs, iptm } = fold;
  const values = new Map(chainPairs.map((pair) => [`${pair.a} ${pair.b}`, pair.iptm]));
  const ids = chains.map(({ id }) => id);
  const given = toChainMatrix(fold, (i, k) => values.get(`${ids[i]} ${ids[k]}`) ?? null);
  // The ipTM of two chains is that of their pair.
  return given ?? (chains.length === 2 ? toChainMatrix(fold, (i, k) => (i === k ? null : iptm)) : null);
}

function pairMinPae(fold: FoldingResult): PairMatrix | null {
  const { chains, paeOffsets: offsets, raw } = fold;
  const pae = raw.matrices.pae;
  if (offsets === null || pae === undefined) return null;
  const bands = chains.map(
    ({ tokenStart, tokenEnd }) => [offsets[tokenStart] ?? 0, offsets[tokenEnd] ?? 0] as const,
  );
  return toChainMatrix(fold, (i, k) => {
    const least = blockMin(pae, ...(bands[i] ?? [0, 0]), ...(bands[k] ?? [0, 0]));
    return Number.isFinite(least) ? least : null;
  });
}

/**
 * The pTM of each chain: the diagonal of the pairs. The pTM of a single chain is that of the whole.
 */
function chainPtm({ chains, ptm }: FoldingResult, pairs: PairMatrix | null): (number | null)[] {
  return chains.map((_, i) => pairs?.[i]?.[i] ?? (chains.length === 1 ? ptm : null));
}

/** The mean ipTM of each chain with all others, both directions; null where none is known. */
function chainIptm({ chains }: FoldingResult, pairs: PairMatrix | null): (number | null)[] {
  return chains.map((_, i) => {
    return mean(chains.flatMap((_other, k) => (k === i ? [] : [pairs?.[i]?.[k], pairs?.[k]?.[i]])));
  });
}

/**
 * Writes summary_confidences.json of AlphaFold 3. Lists have one value a chain, in the order of
 * the chains. The result has no disorder and no clashes, so that `fraction_disordered`, `has_clash`
 * and the `ranking_score` that needs both are null.
 */
export function writeSummary(fold: FoldingResult): string {
  const pairs = pairIptm(fold);
  const summary = {
    chain_iptm: chainIptm(fold, pairs),
    chain_pair_iptm: pairs,
    chain_pair_pae_min: pairMinPae(fold),
    chain_ptm: chainPtm(fold, pairs),
    fraction_disordered: null,
    has_clash: null,
    iptm: fold.iptm,
    ptm: fold.ptm,
    ranking_score: null,
  };
  return `${JSON.stringify(summary, null, 1)}\n`;
}

function* paeTexts(pae: Matrix): Generator<string> {
  yield '[{"predicted_aligned_error": ';
  yield* matrixTexts(
    pae,
    Array.from({ length: pae.rowCount }, (_, row) => row),
  );
  yield `, "max_predicted_aligned_error": ${Math.max(LARGEST_PAE, pae.max ?? 0)}}]\n`;
}

/** Writes the PAE as AlphaFold DB has it, by residue; its form names no chains, so it holds one. */
export function writePae({ pae, chains }: FoldingResult): ConfidenceFile {
  if (pae === null) return { ok: false, reason: NO_PAE };
  if (chains.length > 1)
    return { ok: false, reason: 'pae.json is for one chain. confidences.json holds the errors of several.' };
  return { ok: true, pieces: joinPieces(paeTexts(pae)) };
}
