// Finds the proteins most similar to a sequence, with the filters of GET /similarity-search.
import { fourDecimals } from './feature-values.ts';
import type { SparseVector } from './features.ts';
import { toVector } from './postings.ts';
import { scoreAll } from './similarity.ts';
import type { AtlasProtein, Universe } from './universe-reader.ts';

/** The question of a search. */
export interface SearchRequest {
  /** Upper case, clean. */
  readonly sequence: string;
  readonly topkResults: number;
  readonly minSimilarity: number | undefined;
  readonly pctCharacterizedMax: number | undefined;
}

/** A similar protein, with its feature vector. */
export interface Hit {
  readonly protein: AtlasProtein;
  readonly score: number;
  readonly vector: SparseVector;
}

/** A score as it is answered, by which `min_similarity` is judged: a client reads no other. */
const sixDecimals = (score: number): number => Math.round(score * 1e6) / 1e6;

/** The best `topkResults` proteins; those among them that are withheld are only counted. */
export function searchSimilar(
  universe: Universe,
  request: SearchRequest,
): { hits: Hit[]; restricted: number } {
  const { postings, rarity, norms, withheld, clusterNumbers } = universe;
  const scores = scoreAll(toVector(request.sequence), postings, rarity, norms);
  const share = new Map<number, number>();
  const readPercent = (id: number): number | undefined => {
    const cluster = clusterNumbers[id] ?? -1;
    if (cluster >= 0 && !share.has(cluster))
      share.set(cluster, universe.cluster(cluster)?.pctCharacterized ?? 0);
    return share.get(cluster);
  };
  const passes = (id: number): boolean => {
    if (request.pctCharacterizedMax === undefined) return true;
    const pct = readPercent(id);
    return pct !== undefined && pct <= request.pctCharacterizedMax;
  };
  const ranked = [...scores.keys()]
    .filter((id) => (scores[id] ?? 0) > 0)
    .filter((id) => sixDecimals(scores[id] ?? 0) >= (request.minSimilarity ?? 0) && passes(id))
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
    .slice(0, request.topkResults);
  const hits = ranked
    .filter((id) => withheld[id] === 0)
    .flatMap((id) => {
      const protein = universe.proteinById(id);
      return protein === undefined
        ? []
        : [{ protein, score: sixDecimals(scores[id] ?? 0), vector: toVector(protein.sequence) }];
    });
  return { hits, restricted: ranked.length - hits.length };
}

/** The features that weigh most over all hits: normalised activations, greatest total first. */
export function sharedFeatures({ rarity }: Universe, hits: readonly Hit[], count: number) {
  const values = new Map<number, number[]>();
  for (const { vector } of hits)
    for (const [n, feature] of vector.features.entries()) {
      const value = rarity.normalise(feature, vector.strengths[n] ?? 0);
      const list = values.get(feature);
      if (list === undefined) values.set(feature, [value]);
      else list.push(value);
    }
  const total = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0);
  return [...values]
    .map(([feature_index, list]) => ({ feature_index, list, sum: total(list) }))
    .sort((a, b) => b.sum - a.sum || a.feature_index - b.feature_index)
    .slice(0, count)
    .map(({ feature_index, list, sum }) => ({
      feature_index,
      occurrence_count: list.length,
      min_activation: fourDecimals(Math.min(...list)),
      max_activation: fourDecimals(Math.max(...list)),
      mean_activation: fourDecimals(sum / list.length),
    }));
}
