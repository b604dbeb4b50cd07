/**
 * Embeddings of a fold: a vector for each token from its neighbourhood in the chain, and one for
 * each token pooled over its pairs, both by fixed random projections, so that like surroundings
 * give like vectors. No learned model.
 */
import { hashText, randomFrom } from '../structure/random.ts';
import type { ChainModel } from './model.ts';
import type { Scores } from './scores.ts';

/** Length of a token's vector. */
const SEQUENCE_WIDTH = 128;
/** Length of a token's pooled pair vector (the service's). */
const PAIR_WIDTH = 256;
/** Tokens on either side that a vector sees. */
const REACH = 4;
/** Aligned error, in ångström, over which a pair's weight falls to 1/e. */
const SCALE = 8;

const directions = new Map<string, Float64Array>();

/** A fixed pseudo-random direction for a text. */
function direction(text: string, width: number): Float64Array {
  const key = `${width}/${text}`;
  const known = directions.get(key);
  if (known !== undefined) return known;
  const random = randomFrom(hashText(key));
  const made = Float64Array.from({ length: width }, () => 2 * random() - 1);
  if (directions.size < 20_000) directions.set(key, made);
  return made;
}

function normalised(sum: Float64Array): number[] {
  const length = Math.hypot(...sum) || 1;
  return Array.from(sum, (x) => Math.round((x / length) * 10_000) / 10_000);
}

function addScaled(sum: Float64Array, vector: Float64Array, weight: number): void {
  for (let k = 0; k < sum.length; k++) sum[k] = (sum[k] ?? 0) + weight * (vector[k] ?? 0);
}

export interface Embeddings {
  /** Per token, `SEQUENCE_WIDTH` numbers of unit length. */
  sequence: number[][];
  /** Per token, `PAIR_WIDTH` numbers of unit length. */
  pair: number[][];
  /** Per token, its 0-based number in its chain. */
  residueIndex: number[];
  /** Per token, which input it is a copy of. */
  entityId: number[];
}

/** Embeds the tokens of all chains in order. */
export function embed(chains: readonly ChainModel[], { pae, size }: Scores): Embeddings {
  const sequence = chains.flatMap(({ tokens }) =>
    tokens.map((token, i) => {
      const sum = new Float64Array(SEQUENCE_WIDTH);
      for (let k = -REACH; k <= REACH; k++) {
        const other = tokens[i + k];
        if (other)
          addScaled(sum, direction(`${other.name}@${k}`, SEQUENCE_WIDTH), Math.exp(-Math.abs(k) / 2));
      }
      addScaled(sum, direction('plddt', SEQUENCE_WIDTH), token.plddt - 0.7);
      return normalised(sum);
    }),
  );
  const names = chains.flatMap(({ tokens }) => tokens.map((token) => token.name));
  const kinds = [...new Set(names)];
  const nameKind = names.map((name) => kinds.indexOf(name));
  const pair = names.map((name, i) => {
    const weights = new Float64Array(kinds.length);
    for (let j = 0; j < size; j++) {
      const kind = nameKind[j] ?? 0;
      weights[kind] = (weights[kind] ?? 0) + Math.exp(-(pae[i * size + j] ?? 0) / SCALE);
    }
    const sum = new Float64Array(PAIR_WIDTH);
    kinds.forEach((kind, k) => {
      addScaled(sum, direction(`${name}-${kind}`, PAIR_WIDTH), (weights[k] ?? 0) / size);
    });
    return normalised(sum);
  });
  return {
    sequence,
    pair,
    residueIndex: chains.flatMap(({ tokens }) => tokens.map((token) => token.index)),
    entityId: chains.flatMap(({ tokens, entity }) => tokens.map(() => entity)),
  };
}
