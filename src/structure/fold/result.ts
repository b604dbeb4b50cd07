// A folding result as it is queried: chains, scores and matrices with one row for each token,
// whatever rows the service wrote. Rows that fit no token are an error, never a shifted list.
import { type FoldedChains, meanOf, readChains } from './chains.ts';
import { type FoldedComplex, type Numbers, readFields } from './fields.ts';
import { collapsedMatrix, type Matrix, matrixOf } from './matrix.ts';
import { iptmChainPairs, isOfPairs } from './pae.ts';
import { createRowFinder, type FindRows, type RowOffsets, type TokenSpan } from './rows.ts';

/** A pLDDT by token, and the same with a null between two chains where the service writes one. */
interface TokenPlddt {
  readonly tokens: Numbers;
  readonly slots: Numbers;
}

/** The mean of the values of each token. */
const collapsed = (values: Numbers, offsets: RowOffsets): Numbers =>
  offsets.length - 1 === values.length
    ? values
    : offsets.slice(1).map((end, token) => meanOf(values.slice(offsets[token], end)));

/** Reads values with a null slot between chains. Undefined when the null slots are elsewhere. */
function withoutBreaks(
  values: Numbers,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | undefined {
  const offsets = findRows(values.length - (spans.length - 1));
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

function readRows(values: Numbers, spans: readonly TokenSpan[], findRows: FindRows): TokenPlddt | undefined {
  const cut = withoutBreaks(values, spans, findRows);
  if (cut !== undefined) return cut;
  for (const list of [values, values.filter((value) => value !== null)]) {
    const offsets = findRows(list.length);
    if (offsets !== undefined) {
      const tokens = collapsed(list, offsets);
      return { tokens, slots: tokens };
    }
  }
  return undefined;
}

/**
 * The pLDDT, 0 to 1: that of the result, else that of its structure; undefined where both are there
 * and neither fits.
 */
function plddtByToken(
  given: Numbers | undefined,
  complex: FoldedComplex,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | undefined {
  const own = complex.plddt.length === complex.sequence.length ? complex.plddt : undefined;
  const read = given && readRows(given, spans, findRows);
  if (given !== undefined && read === undefined && own === undefined) return undefined;
  const tokens = own ?? read?.tokens ?? [];
  return { tokens, slots: read?.slots ?? tokens };
}

/** The folding result. Undefined or null means that the upstream did not give it. */
export type FoldingResult = ReturnType<typeof readFoldingResult>;

type Rows = readonly unknown[];

const isNumbers = (row: unknown): row is number[] => Array.isArray(row);

/** The mean of some vectors, as long as the first of them. */
function meanVector(rows: Rows): unknown {
  const vectors = rows.filter(isNumbers);
  if (rows.length < 2) return rows[0];
  return vectors[0]?.map((_, k) => meanOf(vectors.map((vector) => vector[k] ?? null)));
}

const meanVectors = (rows: Rows, offsets: RowOffsets): Rows =>
  offsets.slice(1).map((end, token) => meanVector(rows.slice(offsets[token], end)));

const shape = (rows: Rows | undefined): number[] | null =>
  rows === undefined ? null : [rows.length, ...(Array.isArray(rows[0]) ? [rows[0].length] : [])];

/**
 * Takes the parsed JSON, with or without an envelope around it. Never throws.
 *
 * @param paeApart - the PAE where it was read apart
 * @param raw - then gives the value as it came
 */
export function readFoldingResult(value: unknown, paeApart?: Matrix, raw: () => unknown = () => value) {
  const given = readFields(value);
  const { complex, ptm, interfacePtm, pairChainsIptm } = given;
  const givenPlddt = given.plddt.value;
  const pairs = pairChainsIptm.value ?? [];
  const named: FoldedChains =
    complex === undefined
      ? { chains: [], misfit: null, warnings: [] }
      : readChains(complex, givenPlddt, given.entityId, pairs.length);
  const bare = named.chains;
  const findRows = complex && createRowFinder(complex, bare);
  const tokenCount = complex?.sequence.length ?? 0;
  const misfit = (member: string, rows: number): string =>
    `The upstream's folding result has changed at $.${member}: expected one row for each of the ` +
    `${tokenCount} tokens of $.complex, or one for each heavy atom of its ligands and modified residues, ` +
    `saw ${rows} rows.`;

  const asGiven: TokenPlddt = { tokens: givenPlddt ?? [], slots: givenPlddt ?? [] };
  const found = complex && findRows ? plddtByToken(givenPlddt, complex, bare, findRows) : asGiven;
  const plddt: TokenPlddt = found ?? { tokens: [], slots: [] };
  const oddPlddt = plddt.tokens.length > 0 ? null : (given.plddt.misfit ?? complex?.plddtMisfit ?? null);
  const chains = bare.map((chain) => ({
    ...chain,
    meanPlddt: meanOf(plddt.tokens.slice(chain.tokenStart, chain.tokenEnd)),
  }));

  /** Rows by token, made by `collapse` where tokens have several; without tokens as they came. */
  function byToken<T>(
    member: string,
    rows: T | undefined,
    count: number,
    collapse: (rows: T, offsets: RowOffsets) => T,
    isRegular = true,
  ): { readonly rows?: T | undefined; readonly misfit?: string } {
    if (rows === undefined || findRows === undefined || tokenCount === 0) return { rows };
    const offsets = isRegular ? findRows(count) : undefined;
    if (offsets === undefined) return { misfit: misfit(member, count) };
    return { rows: tokenCount === count ? rows : collapse(rows, offsets) };
  }
  const vectorsOf = (member: string, rows: Rows | undefined) =>
    byToken(member, rows, rows?.length ?? 0, meanVectors);

  const matrix = paeApart ?? (given.pae && matrixOf(given.pae));
  const isSquare = matrix?.columnCount === matrix?.rowCount;
  const pae = byToken('pae', matrix, matrix?.rowCount ?? 0, collapsedMatrix, isSquare);
  const sequence = vectorsOf('output_embedding_sequence', given.embeddingSequence);
  const pair = vectorsOf('output_embedding_pair_pooled', given.embeddingPairPooled);
  const [sequenceShape, pairShape] = [shape(sequence.rows), shape(pair.rows)];
  const pairsMisfit = isOfPairs(pairs, chains)
    ? null
    : "The upstream's folding result has changed at $.pair_chains_iptm: expected a row and a column for " +
      `each of the ${chains.length} chains, saw ${pairs.length} rows.`;
  return {
    complex,
    plddt,
    /** Ångström. */
    pae: pae.rows,
    /** The embeddings; null when they do not fit. */
    vectors:
      sequence.misfit === undefined && pair.misfit === undefined
        ? { sequence: sequence.rows ?? null, pair: pair.rows ?? null }
        : null,
    /** The value as it came. */
    raw,
    /** What is small, as plain data. */
    summary: {
      atomCount: complex?.atomPositions.length ?? 0,
      model: given.model ?? null,
      created: given.created ?? null,
      tokensUsed: given.tokensUsed ?? null,
      /** 0 to 1, like the other scores. */
      ptm: ptm.value ?? null,
      // Some services write 0 where no other chain is.
      iptm: chains.length === 1 && interfacePtm.value === 0 ? null : (interfacePtm.value ?? null),
      /** Over the tokens. */
      meanPlddt: meanOf(plddt.tokens),
      chains,
      /** Pair ipTM of all ordered pairs of chains; empty without `include_pair_chains_iptm`. */
      chainPairs: iptmChainPairs(pairs, chains),
      /** Null without `include_pae`. */
      pae: pae.rows === undefined ? null : { size: pae.rows.rowCount, max: pae.rows.max },
      /** Null without `include_embeddings`. */
      embeddings: sequenceShape === null && pairShape === null ? null : { sequenceShape, pairShape },
      warnings: [...given.warnings, ...named.warnings],
      /**
       * Why members cannot be trusted: rows fit no token, scores are outside 0 to 1, chains lost
       * their names, atoms their places. Null where they can.
       */
      misfits: {
        ptm: ptm.misfit,
        iptm: interfacePtm.misfit,
        chains: named.misfit,
        chainPairs: pairChainsIptm.misfit ?? pairsMisfit ?? (pairs.length > 0 ? named.misfit : null),
        structure: complex?.atomsMisfit ?? named.misfit,
        plddt: found === undefined ? misfit('plddt', givenPlddt?.length ?? 0) : oddPlddt,
        pae: pae.misfit ?? null,
        embeddings: sequence.misfit ?? pair.misfit ?? null,
      },
    },
  };
}
