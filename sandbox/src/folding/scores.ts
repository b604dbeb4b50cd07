/**
 * Aligned errors between all tokens, and pTM, ipTM and pair ipTM computed from them by the
 * published formula, so that a reader of the PAE can compute the scores again.
 */
import { chainError, flexibility, ownError, round, tmScale, tmTerm } from '../structure/confidence.ts';
import { hashText } from '../structure/random.ts';
import type { ChainModel } from './model.ts';

export interface Scores {
  pae: Float32Array;
  size: number;
  ptm: number;
  /** The score of interfaces; null when there is one chain. */
  iptm: number | null;
  /** Chain by chain; the diagonal is each chain's own pTM. */
  pairs: number[][];
}

const uniform = (text: string): number => hashText(text) / 4294967296;

const CHARGE: Readonly<Record<string, number>> = { K: 1, R: 1, D: -1, E: -1 };
const STICKY = /[AFILMVWYC]/g;

/**
 * How well two chains are taken to bind, 0 to 1: opposite charge and hydrophobic surface help, the
 * rest is a hash of the two texts. It does not depend on the order of the chains, so ranking
 * binders by ipTM means something.
 */
function affinity(a: ChainModel, b: ChainModel): number {
  const charge = ({ kind, text }: ChainModel): number =>
    kind === 'protein'
      ? Array.from(text).reduce((sum, letter) => sum + (CHARGE[letter] ?? 0), 0) / Math.sqrt(text.length)
      : kind === 'ligand'
        ? -0.3
        : -1.5;
  const sticky = ({ kind, text }: ChainModel): number =>
    kind === 'protein' ? (text.match(STICKY)?.length ?? 0) / text.length : 0.35;
  const own = uniform([a.text, b.text].sort().join('|'));
  const same = a.text === b.text && a.kind !== 'ligand' ? 0.12 : 0;
  const opposite = -0.06 * Math.max(-3, Math.min(3, charge(a) * charge(b)));
  return Math.min(
    0.97,
    Math.max(0.03, 0.15 + 0.62 * own + opposite + 0.5 * (sticky(a) + sticky(b) - 0.75) + same),
  );
}

interface Span {
  start: number;
  end: number;
}

/** The best alignment token's mean TM term over the tokens in `over`. */
function bestMean(pae: Float32Array, size: number, from: Span, over: readonly Span[], d0: number): number {
  const count = over.reduce((sum, span) => sum + span.end - span.start, 0);
  if (count === 0) return 0;
  let best = 0;
  for (let i = from.start; i < from.end; i++) {
    let sum = 0;
    for (const { start, end } of over)
      for (let j = start; j < end; j++) sum += tmTerm(pae[i * size + j] ?? 0, d0);
    best = Math.max(best, sum / count);
  }
  return best;
}

/**
 * @param repeat scatters the errors a little: another run of the same input gives other numbers
 * @param conditioned per chain, by how much the error between two of its residues is multiplied
 */
export function scoreChains(
  chains: readonly ChainModel[],
  repeat: number,
  conditioned: readonly (((i: number, j: number) => number) | undefined)[],
): Scores {
  let at = 0;
  const spans = chains.map(({ tokens }) => {
    const start = at;
    at += tokens.length;
    return { start, end: at };
  });
  const size = at;
  const pae = new Float32Array(size * size);
  chains.forEach((a, p) => {
    const rowsFrom = spans[p]?.start ?? 0;
    const plddt = a.tokens.map((token) => token.plddt);
    const loose = flexibility(plddt);
    chains.forEach((b, q) => {
      const columnsFrom = spans[q]?.start ?? 0;
      const scatter = 1 + 0.06 * (uniform(`${repeat}/${Math.min(p, q)}/${Math.max(p, q)}`) - 0.5);
      const bind = affinity(a, b);
      // A pair that binds badly is placed arbitrarily: the error runs to the scale's end.
      const apart = 1.2 + 27 * (1 - bind) ** 1.5;
      plddt.forEach((mine, i) => {
        const row = (rowsFrom + i) * size + columnsFrom;
        b.tokens.forEach((token, j) => {
          const error =
            p === q
              ? chainError(plddt, loose, i, j) * (conditioned[p]?.(i, j) ?? 1)
              : apart + 0.5 * ownError(mine) + 0.8 * ownError(token.plddt);
          pae[row + j] = Math.round(Math.min(31.75, error * scatter) * 100) / 100;
        });
      });
    });
  });
  const all: Span = { start: 0, end: size };
  const d0 = tmScale(size);
  const ptm = bestMean(pae, size, all, [all], d0);
  const iptm =
    chains.length < 2
      ? null
      : Math.max(
          ...spans.map((span) =>
            bestMean(
              pae,
              size,
              span,
              spans.filter((other) => other !== span),
              d0,
            ),
          ),
        );
  const pairs = spans.map((a, p) =>
    spans.map((b, q) =>
      p === q
        ? round(bestMean(pae, size, a, [a], tmScale(a.end - a.start)), 4)
        : round(Math.max(bestMean(pae, size, a, [b], d0), bestMean(pae, size, b, [a], d0)), 4),
    ),
  );
  return { pae, size, ptm: round(ptm, 4), iptm: iptm === null ? null : round(iptm, 4), pairs };
}
