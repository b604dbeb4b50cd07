// Confidences, PAE and embeddings with one row per token, whatever rows the service wrote. Several
// rows of a token become their mean. Rows that fit no token are an error, never a shifted list.
import { chainsOf, type FoldedChain, meanOf } from './chains.ts';
import type { Matrix } from './matrix.ts';
import type { FoldedComplex, FoldingResult, Numbers } from './result.ts';
import { rowOffsets, type TokenSpan } from './tokens.ts';

/** Values, or a sentence on why there are none that fit. */
export type ByToken<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

const fitting = <T>(value: T): ByToken<T> => ({ ok: true, value });

/** @param member - JSON path of what does not fit, such as `$.pae` */
const misfit = (member: string, rows: number, { sequence }: FoldedComplex): ByToken<never> => ({
  ok: false,
  reason:
    `The upstream's folding result has changed at ${member}: ` +
    `expected one row for each of the ${sequence.length} tokens of ` +
    `$.complex, or one for each heavy atom of its ligands and modified residues, saw ${rows} rows.`,
});

/** The mean of the values of each token. */
const collapsed = (values: Numbers, offsets: readonly number[]): Numbers =>
  offsets.length - 1 === values.length
    ? values
    : offsets.slice(1).map((end, token) => meanOf(values.slice(offsets[token], end)));

/** A pLDDT by token, and the same with a null between two chains where the service writes one. */
export interface TokenPlddt {
  readonly tokens: Numbers;
  readonly slots: Numbers;
}

/** Reads values with a null slot between chains. Undefined when the null slots are elsewhere. */
function withoutBreaks(
  complex: FoldedComplex,
  spans: readonly TokenSpan[],
  values: Numbers,
): TokenPlddt | undefined {
  const offsets = rowOffsets(complex, spans, values.length - (spans.length - 1));
  if (offsets === undefined) return undefined;
  const breaks = new Set(spans.slice(1).map(({ tokenStart }, k) => (offsets[tokenStart] ?? 0) + k));
  for (const slot of breaks) if (values[slot] !== null) return undefined;
  const tokens = collapsed(
    values.filter((_, slot) => !breaks.has(slot)),
    offsets,
  );
  const slots = spans.flatMap(({ tokenStart, tokenEnd }, k) => [
    ...(k > 0 ? [null] : []),
    ...tokens.slice(tokenStart, tokenEnd),
  ]);
  return { tokens, slots };
}

function plddtOf(
  complex: FoldedComplex,
  spans: readonly TokenSpan[],
  values: Numbers,
): TokenPlddt | undefined {
  const cut = withoutBreaks(complex, spans, values);
  if (cut !== undefined) return cut;
  const known = values.filter((value) => value !== null);
  for (const list of [values, known]) {
    const offsets = rowOffsets(complex, spans, list.length);
    if (offsets !== undefined) {
      const tokens = collapsed(list, offsets);
      return { tokens, slots: tokens };
    }
  }
  return undefined;
}

/**
 * The pLDDT, 0 to 1: from the result, else from its structure. Empty when neither fits.
 *
 * @param spans - the chains of the result
 */
function plddtByToken({ complex, plddt }: FoldingResult, spans: readonly TokenSpan[]): ByToken<TokenPlddt> {
  if (complex === undefined) return fitting({ tokens: plddt ?? [], slots: plddt ?? [] });
  const own = complex.plddt.length === complex.sequence.length ? complex.plddt : undefined;
  const read = plddt && plddtOf(complex, spans, plddt);
  if (plddt !== undefined && read === undefined && own === undefined)
    return misfit('$.plddt', plddt.length, complex);
  const tokens = own ?? read?.tokens ?? [];
  return fitting({ tokens, slots: read?.slots ?? tokens });
}

/** Chains with their confidences, which are null where the pLDDT does not fit. */
export function chainsWithPlddt(result: FoldingResult): {
  readonly chains: readonly FoldedChain[];
  readonly plddt: ByToken<TokenPlddt>;
} {
  const bare = chainsOf(result);
  const plddt = plddtByToken(result, bare);
  const values = plddt.ok ? plddt.value.tokens : [];
  const chains = bare.map((chain) => ({
    ...chain,
    meanPlddt: meanOf(values.slice(chain.tokenStart, chain.tokenEnd)),
  }));
  return { chains, plddt };
}

/** Means over the rows and columns of each token. Its maximum is that of the whole matrix. */
function collapsedMatrix(whole: Matrix, offsets: readonly number[]): Matrix {
  const size = offsets.length - 1;
  const means = new Float64Array(size);
  const counts = new Float64Array(size);
  const add = (row: Float64Array): void => {
    for (let token = 0, at = 0; token < size; token++) {
      for (const end = offsets[token + 1] ?? 0; at < end; at++) {
        const cell = row[at] ?? Number.NaN;
        if (Number.isNaN(cell)) continue;
        means[token] = (means[token] ?? 0) + cell;
        counts[token] = (counts[token] ?? 0) + 1;
      }
    }
  };
  return {
    rowCount: size,
    columnCount: size,
    max: whole.max,
    row(index) {
      means.fill(0);
      counts.fill(0);
      for (let r = offsets[index] ?? 0; r < (offsets[index + 1] ?? 0); r++) add(whole.row(r));
      // Without a number the quotient of two zeros is NaN, as it should be.
      for (let token = 0; token < size; token++) means[token] = (means[token] ?? 0) / (counts[token] ?? 0);
      return means;
    },
  };
}

/** The PAE with one row and one column for each token; undefined when the result has none. */
export function paeByToken(
  { complex, pae }: FoldingResult,
  spans: readonly TokenSpan[],
): ByToken<Matrix | undefined> {
  if (pae === undefined || complex === undefined || complex.sequence.length === 0) return fitting(pae);
  const offsets = pae.columnCount === pae.rowCount ? rowOffsets(complex, spans, pae.rowCount) : undefined;
  if (offsets === undefined) return misfit('$.pae', pae.rowCount, complex);
  return fitting(offsets.length - 1 === pae.rowCount ? pae : collapsedMatrix(pae, offsets));
}

const isNumbers = (row: unknown): row is number[] => Array.isArray(row);

/** The mean of some vectors, as long as the first of them. */
function meanVector(rows: readonly unknown[]): unknown {
  const vectors = rows.filter(isNumbers);
  if (rows.length < 2) return rows[0];
  return vectors[0]?.map((_, k) => meanOf(vectors.map((vector) => vector[k] ?? null)));
}

/** Embedding vectors, one for each token. @param member - JSON path of the vectors */
export function vectorsByToken(
  { complex }: FoldingResult,
  spans: readonly TokenSpan[],
  member: string,
  rows: readonly unknown[] | undefined,
): ByToken<readonly unknown[] | undefined> {
  if (rows === undefined || complex === undefined || complex.sequence.length === 0) return fitting(rows);
  const offsets = rowOffsets(complex, spans, rows.length);
  if (offsets === undefined) return misfit(member, rows.length, complex);
  if (offsets.length - 1 === rows.length) return fitting(rows);
  return fitting(offsets.slice(1).map((end, token) => meanVector(rows.slice(offsets[token], end))));
}
