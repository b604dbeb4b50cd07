// The answers of the feature routes: the whole catalogue as one JSON text, and one feature with its
// statistics.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { nearestFeatures } from './feature-neighbours.ts';
import { describeFeature } from './feature-text.ts';
import { FEATURE_COUNT, toThreshold } from './features.ts';
import type { AtlasProtein, Universe } from './universe-reader.ts';

const ROWS_A_TURN = 1024;

/** The text of GET /features: `{"data": [{feature_index, label, description}]}`, about 7 MB. */
export async function catalogueJson(): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let start = 0; start < FEATURE_COUNT; start += ROWS_A_TURN) {
    const rows: string[] = [];
    for (let feature_index = start; feature_index < start + ROWS_A_TURN; feature_index++) {
      const { label, description } = describeFeature(feature_index);
      rows.push(JSON.stringify({ feature_index, label, description }));
    }
    parts.push(Buffer.from(`${start === 0 ? '{"data":[' : ','}${rows.join(',')}`));
    await nextTurn();
  }
  return Buffer.concat([...parts, Buffer.from(']}')]);
}

/** The proteins in which a feature is strongest, strongest first. */
function strongest({ postings, withheld }: Universe, feature: number): { id: number; strength: number }[] {
  const found: { id: number; strength: number }[] = [];
  for (let n = postings.offsets[feature] ?? 0; n < (postings.offsets[feature + 1] ?? 0); n++) {
    const id = postings.proteins[n] ?? 0;
    if (withheld[id] === 0) found.push({ id, strength: postings.strengths[n] ?? 0 });
  }
  return found.sort((a, b) => b.strength - a.strength || a.id - b.id);
}

/** Up to `count` of the ranked proteins that pass. */
function take(
  universe: Universe,
  ranked: readonly { id: number; strength: number }[],
  count: number,
  pass: (p: AtlasProtein) => boolean,
) {
  const taken: { protein: AtlasProtein; activation: number }[] = [];
  for (const { id, strength } of ranked) {
    if (taken.length === count) break;
    const protein = universe.proteinById(id);
    if (protein && pass(protein)) taken.push({ protein, activation: strength / 1000 });
  }
  return taken;
}

function familiesProse(universe: Universe, proteins: readonly AtlasProtein[]): string {
  const counts = new Map<string, number>();
  for (const { cluster } of proteins) {
    const name = cluster === null ? undefined : universe.cluster(cluster)?.name;
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 4);
  if (ranked.length === 0) return 'No family of this universe has it.';
  return `Strongest in ${ranked.map(([name, n]) => `${name} (${n} of the top ${proteins.length})`).join(', ')}.`;
}

/** The fourteen fields of GET /features/{feature_index}. */
export function featureDetail(universe: Universe, feature: number) {
  const { label, summary, description, activationPattern, category } = describeFeature(feature);
  const { frequency, idf, max } = universe.rarity;
  const ranked = strongest(universe, feature);
  const top = take(universe, ranked, 100, () => true);
  const reviewed = take(universe, ranked, 20, (protein) => protein.reviewed);
  return {
    feature_index: feature,
    label,
    summary,
    description,
    activation_pattern: activationPattern,
    category,
    exemplar_protein_families: familiesProse(
      universe,
      top.map(({ protein }) => protein),
    ),
    uniref90_frequency: frequency[feature] ?? 0,
    uniref90_idf: idf[feature] ?? 0,
    uniref90_max_activation: (max[feature] ?? 0) / 1000,
    top_100_uniref_ids: top.map(({ protein, activation }) => ({ uniref_id: protein.uniref, activation })),
    top_swissprot_activations: reviewed.map(({ protein, activation }) => ({
      uniprot_id: protein.accession,
      activation,
    })),
    decoder_nearest_neighbors: nearestFeatures(feature, 10),
    threshold: toThreshold(feature) / 1000,
  };
}
