// Seeded randomness for growing a universe. Every stream is named, so that one more draw in one
// place moves nothing in another.

/** A stream of reproducible draws. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  whole(below: number): number;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
}

/** 32-bit FNV-1a of a name, to start a stream from. */
function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The stream of that seed and name (the mulberry32 generator). */
export function createRandom(seed: number, name: string): Random {
  let state = hashName(`${seed}/${name}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    whole: (below) => Math.floor(next() * below),
    pick<T>(list: readonly T[]): T {
      const one = list[Math.floor(next() * list.length)];
      if (one === undefined) throw new RangeError('nothing to pick from');
      return one;
    },
  };
}

/** An index drawn in proportion to the weights. */
export function pickWeighted(random: Random, weights: readonly number[]): number {
  // Plain loops: this is drawn for every residue of every protein.
  let total = 0;
  for (const weight of weights) total += weight;
  let left = random.next() * total;
  for (let index = 0; index < weights.length; index++) {
    left -= weights[index] ?? 0;
    if (left < 0) return index;
  }
  return weights.length - 1;
}
