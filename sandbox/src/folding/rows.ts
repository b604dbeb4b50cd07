/**
 * The forms of a result. Either every token has one row in confidences, PAE and embeddings; or
 * ligands and modified residues have one for each atom, as in the open pipeline behind this format.
 * And either each component of a ligand is a token, or a whole ligand is one, named after its first
 * component. Means are taken where several built tokens become one.
 */
import { round } from '../structure/confidence.ts';
import type { ChainModel, FoldAtom } from './model.ts';
import type { Scores } from './scores.ts';

export interface ResultForm {
  /** The owners of rows: each token, or each atom of ligands and modified residues. */
  rows: 'token' | 'atom';
  /**
   * `kind` names protein, rna, dna and ligand; `polymer` says polymer and non-polymer, and a ligand
   * is one token.
   */
  entities: 'kind' | 'polymer';
  /** `sparse` leaves out the elements of all atoms, and all atoms of unknown residues (X). */
  atoms: 'full' | 'sparse';
}

export const DEFAULT_FORM: ResultForm = { rows: 'token', entities: 'kind', atoms: 'full' };

/** A token as the result shows it. */
export interface ResultToken {
  name: string;
  /** Index of its chain. */
  chain: number;
  atoms: readonly FoldAtom[];
  hetero: boolean;
  plddt: number;
  /** The built token behind each row; several where they are averaged. */
  rows: readonly (readonly number[])[];
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** The value of the only built token, or the mean of several. */
const averaged = (behind: readonly number[], values: readonly number[]): number => {
  const [first = 0] = behind;
  return behind.length === 1
    ? (values[first] ?? 0)
    : round(mean(behind.map((token) => values[token] ?? 0)), 3);
};

/** The tokens of the result with their rows. */
export function resultTokens(
  chains: readonly ChainModel[],
  { rows, entities, atoms: form }: ResultForm,
): ResultToken[] {
  let next = 0;
  return chains.flatMap(({ kind, tokens }, chain) => {
    const first = next;
    next += tokens.length;
    const groups =
      kind === 'ligand' && entities === 'polymer'
        ? [tokens.map((_, k) => k)]
        : tokens.map((_, k): number[] => [k]);
    return groups.map((group): ResultToken => {
      const built = group.flatMap((k) => tokens[k] ?? []);
      const isLeftOut = form === 'sparse' && built[0]?.name === 'UNK';
      const atoms = isLeftOut ? [] : built.flatMap((token) => token.atoms);
      const behind = group.flatMap((k) => (tokens[k]?.atoms ?? []).map(() => first + k));
      const hetero = built.some((token) => token.hetero);
      const weighted = built.flatMap((token) => token.atoms.map(() => token.plddt));
      return {
        name: built[0]?.name ?? 'UNK',
        chain,
        atoms,
        hetero,
        plddt: group.length === 1 ? (built[0]?.plddt ?? 0) : round(mean(weighted), 3),
        rows:
          hetero && rows === 'atom'
            ? behind.map((token) => [token])
            : [group.length === 1 ? [first + (group[0] ?? 0)] : behind],
      };
    });
  });
}

/** How far the confidences of the atoms of a token lie apart; their mean is that of the token. */
const SPREAD = 0.08;

const spread = (row: number, rowCount: number): number => (SPREAD * (row - (rowCount - 1) / 2)) / rowCount;

/** One value for each row, and a null between chains. */
export function plddtWithBreaks(
  chains: readonly ChainModel[],
  tokens: readonly ResultToken[],
): (number | null)[] {
  const built = chains.flatMap((chain) => chain.tokens.map((token) => token.plddt));
  return tokens.flatMap(({ chain, rows }, k) => [
    ...(k > 0 && tokens[k - 1]?.chain !== chain ? [null] : []),
    ...rows.map((behind, row) => Math.min(1, round(averaged(behind, built) + spread(row, rows.length), 4))),
  ]);
}

/** The PAE by rows. */
export function paeRows({ pae, size }: Scores, tokens: readonly ResultToken[]): number[][] {
  const rows = tokens.flatMap((token) => token.rows);
  const cell = (a: readonly number[], b: readonly number[]): number =>
    a.length === 1 && b.length === 1
      ? (pae[(a[0] ?? 0) * size + (b[0] ?? 0)] ?? 0)
      : mean(a.flatMap((i) => b.map((j) => pae[i * size + j] ?? 0)));
  return rows.map((a) => rows.map((b) => round(cell(a, b), 2)));
}

/** The value of each built token, by rows: the mean of several numbers. */
export const vectorRows = (vectors: readonly number[][], tokens: readonly ResultToken[]): number[][] =>
  tokens.flatMap(({ rows }) =>
    rows.map((behind) => {
      const all = behind.flatMap((token) => [vectors[token] ?? []]);
      const [first = []] = all;
      return all.length === 1 ? first : first.map((_, k) => round(mean(all.map((one) => one[k] ?? 0)), 4));
    }),
  );

/** The value of each built token, by rows: that of the first of several. */
export const firstRows = <T>(values: readonly T[], tokens: readonly ResultToken[]): T[] =>
  tokens.flatMap(({ rows }) => rows.flatMap(([token = 0]) => values[token] ?? []));
