// A folding result with one row for each token, whatever rows the service wrote. Rows that fit no
// token are a misfit, never a shifted list. Plain data, so that a worker can send it.
import { type FoldedChain, type FoldedChains, mean, readChains } from './chains.ts';
import { type FoldedComplex, type Numbers, readFields, readMembers } from './fields.ts';
import { type ChainPairScores, isChainPairMatrix, scoreChainPairs } from './interface-scores.ts';
import { averageByToken, type Matrix, type RowOffsets } from './matrix.ts';
import { describeMisfit, quote } from './misfit.ts';
import { liftMatrices, type MatrixName, type RawFold } from './raw.ts';
import { createRowFinder, type FindRows, type TokenSpan, valuesByAtom } from './rows.ts';

/** A pLDDT by token, and the same with a null between two chains where the service writes one. */
export interface TokenPlddt {
  readonly tokens: Numbers;
  readonly slots: Numbers;
  /**
   * By atom of the structure: null where an atom has no row of its own. Empty where the service
   * sent no rows for atoms.
   */
  readonly atoms: Numbers;
}

/** Why members cannot be trusted; null where they can. */
export interface FoldMisfits {
  readonly ptm: string | null;
  readonly iptm: string | null;
  readonly chains: string | null;
  readonly chainPairs: string | null;
  readonly structure: string | null;
  readonly plddt: string | null;
  readonly pae: string | null;
  readonly embeddings: string | null;
}

/** Changes each sentence of the misfits. */
export const mapMisfits = (
  { ptm, iptm, chains, chainPairs, structure, plddt, pae, embeddings }: FoldMisfits,
  change: (misfit: string | null) => string | null,
): FoldMisfits => ({
  ptm: change(ptm),
  iptm: change(iptm),
  chains: change(chains),
  chainPairs: change(chainPairs),
  structure: change(structure),
  plddt: change(plddt),
  pae: change(pae),
  embeddings: change(embeddings),
});

/** Undefined or null means that the service did not give it, or that there is a misfit. */
export interface FoldingResult {
  readonly complex: FoldedComplex | undefined;
  readonly atomCount: number;
  readonly model: string | null;
  /** 0 to 1, like the other scores. */
  readonly ptm: number | null;
  readonly iptm: number | null;
  readonly plddt: TokenPlddt;
  /** Over the tokens. */
  readonly meanPlddt: number | null;
  readonly chains: readonly FoldedChain[];
  /** Whether the service does not name the only chain. `nameOnlyChain` does. */
  readonly isNameless: boolean;
  /** Scores of the ordered pairs of chains, row by row. */
  readonly chainPairs: readonly ChainPairScores[];
  /** Ångström; null without `include_pae`. */
  readonly pae: Matrix | null;
  /** The first row of each token in the matrix as it came, and the number of its rows. */
  readonly paeOffsets: RowOffsets | null;
  /** Null without `include_embeddings`. */
  readonly embeddings: { readonly sequence: Matrix | null; readonly pair: Matrix | null } | null;
  readonly warnings: readonly string[];
  readonly misfits: FoldMisfits;
  readonly raw: RawFold;
}

/** The mean of the values of each token. */
const averageValues = (values: Numbers, offsets: RowOffsets): Numbers =>
  offsets.length - 1 === values.length
    ? values
    : offsets.slice(1).map((end, token) => mean(values.slice(offsets[token], end)));

/** Values with a null slot for each break between chains, which stands at another place. */
const SHIFTED = 'shifted';

/** Reads values with a null slot between chains; undefined where their number is another one. */
function readWithBreaks(
  complex: FoldedComplex,
  values: Numbers,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | typeof SHIFTED | undefined {
  const offsets = findRows(values.length - (spans.length - 1));
  if (offsets === undefined) return undefined;
  const breaks = new Set(spans.slice(1).map(({ tokenStart }, k) => (offsets[tokenStart] ?? 0) + k));
  for (const slot of breaks) if (values[slot] !== null) return SHIFTED;
  const rows = values.filter((_, slot) => !breaks.has(slot));
  const tokens = averageValues(rows, offsets);
  const slots = spans.flatMap(({ tokenStart, tokenEnd }, k) => [
    ...(k > 0 ? [null] : []),
    ...tokens.slice(tokenStart, tokenEnd),
  ]);
  return { tokens, slots, atoms: valuesByAtom(complex, rows, offsets) };
}

function readByToken(
  complex: FoldedComplex,
  values: Numbers,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | typeof SHIFTED | undefined {
  const withBreaks = readWithBreaks(complex, values, spans, findRows);
  if (typeof withBreaks === 'object') return withBreaks;
  // Without numbers of chains it is not known where breaks are.
  const isNumbered = complex.chainId.length === complex.sequence.length;
  for (const list of isNumbered ? [values] : [values, values.filter((value) => value !== null)]) {
    const offsets = findRows(list.length);
    if (offsets !== undefined) {
      const tokens = averageValues(list, offsets);
      return { tokens, slots: tokens, atoms: valuesByAtom(complex, list, offsets) };
    }
  }
  return withBreaks;
}

/** The pLDDT of the structure, else that of the result; undefined when neither fits. */
function readPlddt(
  given: Numbers | undefined,
  complex: FoldedComplex,
  spans: readonly TokenSpan[],
  findRows: FindRows,
): TokenPlddt | typeof SHIFTED | undefined {
  const own = complex.plddt.length === complex.sequence.length ? complex.plddt : undefined;
  const read = given && readByToken(complex, given, spans, findRows);
  if (read === SHIFTED) return SHIFTED;
  const hasOdd = given !== undefined || complex.plddt.length > 0;
  if (hasOdd && read === undefined && own === undefined) return undefined;
  const tokens = own ?? read?.tokens ?? [];
  return { tokens, slots: read?.slots ?? tokens, atoms: read?.atoms ?? [] };
}

interface FittedMatrix {
  readonly matrix: Matrix | null;
  readonly misfit: string | null;
}

const shiftedMisfit = (breakCount: number): string =>
  describeMisfit('plddt', `null at each of the ${breakCount} breaks between chains`, 'null elsewhere');

const rowsMisfit = (member: string, tokenCount: number, rowCount: number): string =>
  `The upstream's folding result has changed at $.${member}: expected one row for each of the ` +
  `${tokenCount} tokens of $.complex, or one for each heavy atom of its ligands and modified residues, ` +
  `saw ${rowCount} rows.`;

/** Ångström: no complex is so large. */
const MAX_ERROR = 10_000;

/** Reads a matrix with rows by token; without tokens its rows are as they came. */
function fitMatrix(
  member: MatrixName,
  given: unknown,
  lifted: Matrix | undefined,
  tokenCount: number,
  findRows: FindRows | undefined,
): FittedMatrix {
  if (given != null && !Array.isArray(given))
    return { matrix: null, misfit: describeMisfit(member, 'rows of numbers', quote(given)) };
  const rowCount = given?.length ?? 0;
  if (rowCount === 0) return { matrix: null, misfit: null };
  const isSquare = member !== 'pae' || lifted?.columnCount === rowCount;
  const needsFit = findRows !== undefined && tokenCount > 0;
  const offsets = needsFit ? findRows(rowCount) : [];
  if (lifted === undefined || !isSquare || offsets === undefined)
    return { matrix: null, misfit: rowsMisfit(member, tokenCount, rowCount) };
  const { min, max } = lifted;
  const odd = member !== 'pae' ? null : min !== null && min < 0 ? min : (max ?? 0) > MAX_ERROR ? max : null;
  if (odd !== null)
    return {
      matrix: null,
      misfit: describeMisfit(member, `numbers from 0 to ${MAX_ERROR} ångström`, String(odd)),
    };
  if (!needsFit || rowCount === tokenCount) return { matrix: lifted, misfit: null };
  return { matrix: averageByToken(lifted, offsets, member === 'pae' ? offsets : undefined), misfit: null };
}

const NO_CHAINS: FoldedChains = { chains: [], misfit: null, isNameless: false };

/** Reads parsed JSON, with or without an envelope around it. Never throws. */
export function readFoldingResult(value: unknown): FoldingResult {
  const members = readMembers(value);
  const {
    complex,
    complexMisfit,
    ptm,
    interfacePtm,
    pairChainsIptm,
    plddt: given,
    entityId,
    model,
    warnings,
  } = readFields(value);
  const pairs = pairChainsIptm.value ?? [];
  const named = complex === undefined ? NO_CHAINS : readChains(complex, given.value, entityId, pairs.length);
  const findRows = complex && createRowFinder(complex, named.chains);
  const tokenCount = complex?.sequence.length ?? 0;

  const asGiven: TokenPlddt = { tokens: given.value ?? [], slots: given.value ?? [], atoms: [] };
  const found = complex && findRows ? readPlddt(given.value, complex, named.chains, findRows) : asGiven;
  const plddt: TokenPlddt = typeof found === 'object' ? found : { tokens: [], slots: [], atoms: [] };
  const oddPlddt = plddt.tokens.length > 0 ? null : (given.misfit ?? complex?.plddtMisfit ?? null);
  const chainsMisfit = complexMisfit ?? complex?.tokensMisfit ?? named.misfit;
  const chains = named.chains.map((chain) => ({
    ...chain,
    meanPlddt: mean(plddt.tokens.slice(chain.tokenStart, chain.tokenEnd)),
  }));

  const raw = liftMatrices(value, members);
  const readMatrix = (name: MatrixName) =>
    fitMatrix(name, members[name], raw.matrices[name], tokenCount, findRows);
  const pae = readMatrix('pae');
  const sequence = readMatrix('output_embedding_sequence');
  const pair = readMatrix('output_embedding_pair_pooled');
  const embeddingsMisfit = sequence.misfit ?? pair.misfit;
  const hasEmbeddings = embeddingsMisfit === null && (sequence.matrix ?? pair.matrix) !== null;
  const pairsFit = isChainPairMatrix(pairs, chains);
  const pairsMisfit = pairsFit
    ? null
    : `The upstream's folding result has changed at $.pair_chains_iptm: expected a row and a column for ` +
      `each of the ${chains.length} chains, saw ${pairs.length} rows.`;
  const paeRows = pae.matrix && raw.matrices.pae;
  const paeOffsets = (paeRows && findRows?.(paeRows.rowCount)) ?? null;
  const canScore = complex !== undefined && chainsMisfit === null;
  const chainPairs = canScore
    ? scoreChainPairs({
        complex,
        chains,
        plddt,
        pae: pae.matrix,
        rows: paeRows && paeOffsets ? { matrix: paeRows, offsets: paeOffsets } : null,
        iptm: pairsFit ? pairs : [],
      })
    : [];
  // Some services write 0 for a single chain.
  const hasInterface = chains.length !== 1 || interfacePtm.value !== 0;
  return {
    complex,
    atomCount: complex?.atomPositions.length ?? 0,
    model: model ?? null,
    ptm: ptm.value ?? null,
    iptm: hasInterface ? (interfacePtm.value ?? null) : null,
    plddt,
    meanPlddt: mean(plddt.tokens),
    chains,
    chainPairs,
    pae: pae.matrix,
    paeOffsets,
    embeddings: hasEmbeddings ? { sequence: sequence.matrix, pair: pair.matrix } : null,
    isNameless: named.isNameless,
    warnings,
    misfits: {
      ptm: ptm.misfit,
      iptm: interfacePtm.misfit,
      chains: chainsMisfit,
      chainPairs: pairChainsIptm.misfit ?? chainsMisfit ?? pairsMisfit,
      structure: complex?.atomsMisfit ?? chainsMisfit,
      plddt:
        found === SHIFTED
          ? shiftedMisfit(chains.length - 1)
          : found === undefined
            ? rowsMisfit('plddt', tokenCount, (given.value ?? complex?.plddt ?? []).length)
            : oddPlddt,
      pae: pae.misfit,
      embeddings: embeddingsMisfit,
    },
    raw,
  };
}
