// Scores of the interfaces between chains: ipSAE, pDockQ, pDockQ2, LIS and aligned errors. They are
// computed as in ipsae.py, version 4 (github.com/DunbrackLab/IPSAE), so that numbers compare.
import { type FoldedChain, mean } from './chains.ts';
import type { FoldedComplex, Numbers } from './fields.ts';
import { blockMean, blockMin, type Matrix, type RowOffsets } from './matrix.ts';
import { atomRange, heavyAtoms, readPosition } from './rows.ts';

/** Errors from this one on say nothing of an interface (Dunbrack 2025), in ångström. */
const IPSAE_CUTOFF = 10;
/** Cb atoms within this distance are in contact (Bryant et al. 2022), in ångström. */
const CONTACT_CUTOFF = 8;
/** The error at which a term of pDockQ2 is a half (Zhu et al. 2023), in ångström. */
const PDOCKQ2_D0 = 10;
/** Errors from this one on count for nothing in LIS (Kim et al. 2024), in ångström. */
const LIS_CUTOFF = 12;
/** The sigmoids that were fitted to DockQ: largest value, slope, middle, smallest value. */
const PDOCKQ = { largest: 0.724, slope: 0.052, middle: 152.611, smallest: 0.018 };
const PDOCKQ2 = { largest: 1.31, slope: 0.075, middle: 84.733, smallest: 0.005 };

/**
 * Scores of an ordered pair of chains. All but `iptm` and `ipsae` are the same for both orders. Six
 * decimals; null where the result lacks an input, or where one of the two is a ligand.
 */
export interface ChainPairScores {
  readonly a: string;
  readonly b: string;
  /** 0 to 1, as the service sends it; that of a chain with itself is its pTM. */
  readonly iptm: number | null;
  /**
   * ipSAE of `b` when aligned on `a`, 0 to 1 (Dunbrack 2025, doi:10.1101/2025.02.10.637595): the
   * best residue of `a` by the mean of 1 / (1 + (PAE / d0)²) over the residues of `b` with a PAE
   * below 10 Å; d0 = 1.24 ∛(n - 15) - 1.8 with their number n, 1 Å at least, with a nucleic acid 2
   * Å.
   */
  readonly ipsae: number | null;
  /** The larger one of both directions. */
  readonly ipsaeMax: number | null;
  /**
   * 0 to 0.742 (Bryant et al. 2022, doi:10.1038/s41467-022-28865-w): a sigmoid of the mean pLDDT of
   * the residues in contact times the decimal logarithm of the number of contacts; 0 without any.
   */
  readonly pDockQ: number | null;
  /**
   * 0 to 1.315 (Zhu et al. 2023, doi:10.1093/bioinformatics/btad424): a sigmoid of the mean pLDDT
   * of the residues in contact times the mean of 1 / (1 + (PAE / 10 Å)²) over the contacts; the
   * larger one of both directions, 0 without contacts.
   */
  readonly pDockQ2: number | null;
  /**
   * Local interaction score, 0 to 1 (Kim et al. 2024, doi:10.1101/2024.02.19.580970): the mean of
   * (12 Å - PAE) / 12 Å where the PAE is below 12 Å; the mean of both directions.
   */
  readonly lis: number | null;
  /** Mean PAE over both directions, in ångström: `pae_interaction` of Bennett et al. 2023. */
  readonly meanPae: number | null;
  /** Smallest PAE of both directions, in ångström, over the rows as the service wrote them. */
  readonly minPae: number | null;
}

/** The parts of a result that the scores are computed from. */
export interface InterfaceInput {
  readonly complex: FoldedComplex;
  readonly chains: readonly Omit<FoldedChain, 'meanPlddt'>[];
  /** 0 to 1: by token, and by atom where a token has several rows. */
  readonly plddt: { readonly tokens: Numbers; readonly atoms: Numbers };
  /** By token; null without one. */
  readonly pae: Matrix | null;
  /** The PAE as it came, and the first row of each token in it. */
  readonly rows: { readonly matrix: Matrix; readonly offsets: RowOffsets } | null;
  /** `pair_chains_iptm`; empty without one. */
  readonly iptm: readonly unknown[];
}

/** The residues of a polymer; a ligand has none. Lists go by residue. */
interface Residues {
  /** The row of its Ca or C1' in the PAE as it came. */
  readonly paeRows: readonly number[];
  /** Coordinates of its Cb (Ca of glycine, C3' of a nucleotide); undefined where there is none. */
  readonly places: readonly (readonly [number, number, number] | undefined)[];
  /** 0 to 100, of the same atom. */
  readonly plddt: Numbers;
  readonly isNucleic: boolean;
}

/** The Cb, Ca of glycine or C3' of a nucleotide; undefined where there is none. */
function findContactAtom(complex: FoldedComplex, token: number, isNucleic: boolean): number | undefined {
  const [start, end] = atomRange(complex, token);
  const name = isNucleic ? "C3'" : complex.sequence[token] === 'GLY' ? 'CA' : 'CB';
  for (let atom = start; atom < end; atom++) if (complex.atomNames[atom] === name) return atom;
  return undefined;
}

function readResidues(
  { complex, plddt, rows }: InterfaceInput,
  { kind, tokenStart, tokenEnd }: InterfaceInput['chains'][number],
): Residues {
  const count = kind === 'ligand' ? 0 : tokenEnd - tokenStart;
  const tokens = Array.from({ length: count }, (_, k) => tokenStart + k);
  const isNucleic = kind === 'rna' || kind === 'dna';
  const paeRows = tokens.map((token) => {
    const [first = 0, next = 0] = [rows?.offsets[token], rows?.offsets[token + 1]];
    if (next - first < 2) return first;
    const names = heavyAtoms(complex, token).map((atom) => complex.atomNames[atom]);
    return first + Math.max(0, names.indexOf(isNucleic ? "C1'" : 'CA'));
  });
  const atoms = tokens.map((token) => findContactAtom(complex, token, isNucleic));
  return {
    paeRows,
    places: atoms.map((atom) => (atom === undefined ? atom : readPosition(complex.atomPositions[atom]))),
    plddt: tokens.map((token, k) => {
      const unit = plddt.atoms[atoms[k] ?? -1] ?? plddt.tokens[token] ?? null;
      return unit === null ? null : unit * 100;
    }),
    isNucleic,
  };
}

/**
 * The distance at which a TM-score term is a half, for a number of residues (Yang and Skolnick
 * 2004).
 */
const scaleDistance = (count: number, least: number): number =>
  count < 27 ? least : Math.max(least, 1.24 * Math.cbrt(count - 15) - 1.8);

/** ipSAE and LIS of the residues of one chain, aligned on those of another one. */
function scoreErrors({ columnCount, cells }: Matrix, from: Residues, to: Residues) {
  const least = from.isNucleic || to.isNucleic ? 2 : 1;
  const near = new Float64Array(to.paeRows.length);
  let [ipsae, lisSum, lisCount] = [0, 0, 0];
  for (const row of from.paeRows) {
    let count = 0;
    for (const column of to.paeRows) {
      // A missing error is NaN, which is below nothing.
      const error = cells[row * columnCount + column] ?? Number.NaN;
      if (error < LIS_CUTOFF) {
        lisSum += (LIS_CUTOFF - error) / LIS_CUTOFF;
        lisCount += 1;
      }
      if (error < IPSAE_CUTOFF) {
        near[count] = error;
        count += 1;
      }
    }
    if (count === 0) continue;
    const d0 = scaleDistance(count, least);
    let sum = 0;
    for (let k = 0; k < count; k++) sum += 1 / (1 + ((near[k] ?? 0) / d0) ** 2);
    ipsae = Math.max(ipsae, sum / count);
  }
  return { ipsae, lis: lisCount === 0 ? 0 : lisSum / lisCount };
}

/** The residues of two chains in contact, as pairs of places in their lists. */
function findContacts(a: Residues, b: Residues): [number, number][] {
  const contacts: [number, number][] = [];
  for (const [i, from] of a.places.entries()) {
    if (from === undefined) continue;
    const [x, y, z] = from;
    for (const [k, to] of b.places.entries()) {
      if (to === undefined) continue;
      const [dx, dy, dz] = [x - to[0], y - to[1], z - to[2]];
      if (dx * dx + dy * dy + dz * dz <= CONTACT_CUTOFF * CONTACT_CUTOFF) contacts.push([i, k]);
    }
  }
  return contacts;
}

const sigmoid = (x: number, { largest, slope, middle, smallest }: typeof PDOCKQ): number =>
  largest / (1 + Math.exp(-slope * (x - middle))) + smallest;

/** Mean pLDDT of the residues that are in contact; null where one has none. */
function meanContactPlddt(contacts: readonly [number, number][], a: Residues, b: Residues): number | null {
  const values = [
    ...[...new Set(contacts.map(([i]) => i))].map((i) => a.plddt[i] ?? null),
    ...[...new Set(contacts.map(([, k]) => k))].map((k) => b.plddt[k] ?? null),
  ];
  return values.includes(null) ? null : mean(values);
}

/**
 * The mean term of pDockQ2 over contacts.
 *
 * @param rows, columns - of the PAE, by place in the lists
 */
function meanContactTerm(
  { columnCount, cells }: Matrix,
  contacts: readonly (readonly [row: number, column: number])[],
): number {
  let sum = 0;
  for (const [row, column] of contacts)
    sum += 1 / (1 + ((cells[row * columnCount + column] ?? Number.NaN) / PDOCKQ2_D0) ** 2);
  return sum / contacts.length;
}

function scoreContacts({ complex, plddt: { tokens }, rows }: InterfaceInput, a: Residues, b: Residues) {
  if (complex.atomsMisfit !== null || complex.atomPositions.length === 0 || tokens.length === 0)
    return { pDockQ: null, pDockQ2: null };
  const contacts = findContacts(a, b);
  if (contacts.length === 0) return { pDockQ: 0, pDockQ2: rows && 0 };
  const confidence = meanContactPlddt(contacts, a, b);
  if (confidence === null) return { pDockQ: null, pDockQ2: null };
  const cells = contacts.map(([i, k]) => [a.paeRows[i] ?? 0, b.paeRows[k] ?? 0] as const);
  const term =
    rows &&
    Math.max(
      meanContactTerm(rows.matrix, cells),
      meanContactTerm(
        rows.matrix,
        cells.map(([row, column]) => [column, row]),
      ),
    );
  return {
    pDockQ: sigmoid(confidence * Math.log10(contacts.length), PDOCKQ),
    pDockQ2: term && sigmoid(confidence * term, PDOCKQ2),
  };
}

type PairScores = Omit<ChainPairScores, 'a' | 'b' | 'iptm'>;

const NOT_SCORED: PairScores = {
  ipsae: null,
  ipsaeMax: null,
  pDockQ: null,
  pDockQ2: null,
  lis: null,
  meanPae: null,
  minPae: null,
};

/** The number with six decimals; null for none. */
const round = (value: number | null): number | null =>
  value === null || !Number.isFinite(value) ? null : Number(value.toFixed(6));

type Band = readonly [start: number, end: number];

/** Mean and smallest error between two chains, over both directions. */
function scoreDistance({ chains, pae, rows }: InterfaceInput, i: number, k: number) {
  const [from, to] = [chains[i], chains[k]];
  if (pae === null || rows === null || from === undefined || to === undefined)
    return { meanPae: null, minPae: null };
  const a: Band = [from.tokenStart, from.tokenEnd];
  const b: Band = [to.tokenStart, to.tokenEnd];
  const toRows = ([start, end]: Band): Band => [rows.offsets[start] ?? 0, rows.offsets[end] ?? 0];
  const [rowsA, rowsB] = [toRows(a), toRows(b)];
  return {
    meanPae: (blockMean(pae, ...a, ...b) + blockMean(pae, ...b, ...a)) / 2,
    minPae: Math.min(blockMin(rows.matrix, ...rowsA, ...rowsB), blockMin(rows.matrix, ...rowsB, ...rowsA)),
  };
}

/**
 * Whether `pair_chains_iptm` has a row and a column for each chain, or no cells, as when it was not
 * requested.
 */
export const isChainPairMatrix = (matrix: readonly unknown[], chains: readonly unknown[]): boolean =>
  matrix.flat().length === 0 ||
  [matrix, ...matrix].every((list) => Array.isArray(list) && list.length === chains.length);

/** Scores of two chains. @returns those of the pair in its order, and in the other one */
function scorePair(input: InterfaceInput, residues: readonly Residues[], i: number, k: number) {
  const { meanPae, minPae } = scoreDistance(input, i, k);
  const common = { ...NOT_SCORED, meanPae: round(meanPae), minPae: round(minPae) };
  const [a, b] = [residues[i], residues[k]];
  if (!a?.paeRows.length || !b?.paeRows.length) return [common, common] as const;
  const matrix = input.rows?.matrix;
  const forth = matrix && scoreErrors(matrix, a, b);
  const back = matrix && scoreErrors(matrix, b, a);
  const { pDockQ, pDockQ2 } = scoreContacts(input, a, b);
  const scores = {
    ...common,
    pDockQ: round(pDockQ),
    pDockQ2: round(pDockQ2),
    ...(forth && back
      ? { ipsaeMax: round(Math.max(forth.ipsae, back.ipsae)), lis: round((forth.lis + back.lis) / 2) }
      : {}),
  };
  return [
    { ...scores, ipsae: round(forth?.ipsae ?? null) },
    { ...scores, ipsae: round(back?.ipsae ?? null) },
  ] as const;
}

/**
 * Scores of all ordered pairs of chains that have any, row by row. Chains with themselves have an
 * ipTM only.
 */
export function scoreChainPairs(input: InterfaceInput): ChainPairScores[] {
  const { chains, iptm } = input;
  const residues = chains.map((chain) => readResidues(input, chain));
  const scored = new Map<string, PairScores>();
  return chains.flatMap((a, i) =>
    chains.flatMap((b, k) => {
      const row = iptm[i];
      const cell: unknown = Array.isArray(row) ? row[k] : undefined;
      if (i < k) {
        const [forth, back] = scorePair(input, residues, i, k);
        scored.set(`${i} ${k}`, forth);
        scored.set(`${k} ${i}`, back);
      }
      const scores = scored.get(`${i} ${k}`) ?? NOT_SCORED;
      const pair = { a: a.id, b: b.id, iptm: typeof cell === 'number' ? cell : null, ...scores };
      return pair.iptm === null && Object.values(scores).every((value) => value === null) ? [] : [pair];
    }),
  );
}

/** The scores of so many pairs are stored, counting both orders: those of 15 chains. */
const MAX_STORED_PAIRS = 210;

/** The pairs of two chains, best first: by ipSAE, then by pDockQ, then by ipTM; at most 210. */
export const selectBestPairs = (pairs: readonly ChainPairScores[]): ChainPairScores[] =>
  pairs
    .filter(({ a, b }) => a !== b)
    .sort(
      (one, other) =>
        descend(one.ipsaeMax, other.ipsaeMax) ||
        descend(one.pDockQ, other.pDockQ) ||
        descend(one.iptm, other.iptm),
    )
    .slice(0, MAX_STORED_PAIRS);

/** Compares scores, the larger one first and none last. */
const descend = (one: number | null, other: number | null): number => (other ?? -1) - (one ?? -1);
