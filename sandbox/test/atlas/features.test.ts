// Everything said of features agrees with one definition, recomputed here from the sequences alone.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allHashes, allProteins, startAtlas } from './harness.ts';
import { cosine, naiveActivations, naiveRegions } from './naive.ts';
import * as wire from './wire.ts';

const atlas = startAtlas();
const { data: catalogue } = await atlas.read('/features', wire.catalogue);
const someHash = fc.constantFrom(...allHashes);
const details = new Map<number, Awaited<ReturnType<typeof detail>>>();
function detail(index: number) {
  return atlas.read(`/features/${index}`, wire.feature);
}
async function known(index: number) {
  const kept = details.get(index) ?? (await detail(index));
  details.set(index, kept);
  return kept;
}

/**
 * The threshold as the definition has it: 3.75 + 0.05 for each doubling of the pattern's expected
 * share, 3.6 to 3.85.
 */
function threshold(feature: number): number {
  const share = [0.1205, 0.1276, 0.0788, 0.1357, 0.2015, 0.1195, 0.1532, 0.0612];
  const digits = (feature % 4096).toString(8).padStart(4, '0');
  const expected = [...digits].reduce((p, digit) => p * (share[Number(digit)] ?? 0), 1);
  return Math.round(Math.min(3850, Math.max(3600, 3750 + 50 * Math.log2(expected * 4096))));
}

test('the catalogue has 16,384 features in order, each with its own label and real prose', () => {
  expect(catalogue.map(({ feature_index }) => feature_index)).toEqual([...Array(16384).keys()]);
  expect(new Set(catalogue.map(({ label }) => label)).size).toBe(16384);
  expect(new Set(catalogue.map(({ description }) => description)).size).toBe(16384);
  const mean = catalogue.reduce((sum, { description }) => sum + description.length, 0) / 16384;
  expect(mean).toBeGreaterThan(330);
  expect(mean).toBeLessThan(410);
});

test('the per-residue block of a record is the definition, raw and normalised', async () => {
  await fc.assert(
    fc.asyncProperty(someHash, async (hash) => {
      const raw = await atlas.read(
        `/proteins/${hash}?normalize_features=false&fold_on_miss=false`,
        wire.protein,
      );
      const wanted = naiveActivations(raw.sequence, threshold);
      const [residues, features] = raw.per_residue_activations.indices;
      const got = new Map(
        raw.per_residue_activations.values.map((value, n) => [
          `${residues[n]} ${features[n]}`,
          Math.round(value * 1000),
        ]),
      );
      expect(got).toEqual(wanted);
      expect(raw.per_residue_activations.shape).toEqual([raw.sequence.length, 16384]);
      const perResidue = new Map<number, number>();
      for (const residue of residues) perResidue.set(residue, (perResidue.get(residue) ?? 0) + 1);
      expect(Math.max(...perResidue.values())).toBeLessThanOrEqual(64);

      const scaled = await atlas.read(`/proteins/${hash}?fold_on_miss=false`, wire.protein);
      expect(scaled.per_residue_activations.indices).toEqual(raw.per_residue_activations.indices);
      for (const n of [0, 1, 2].map((k) => Math.floor((k * residues.length) / 3))) {
        const { uniref90_idf, uniref90_max_activation } = await known(features[n] ?? 0);
        const value = ((raw.per_residue_activations.values[n] ?? 0) / uniref90_max_activation) * uniref90_idf;
        expect(scaled.per_residue_activations.values[n]).toBeCloseTo(value, 3);
      }
    }),
    { numRuns: 25 },
  );
});

test('a protein is as active as its most active residue, and its top features are the greatest of those', async () => {
  await fc.assert(
    fc.asyncProperty(
      someHash,
      fc.integer({ min: 1, max: 100 }),
      fc.boolean(),
      async (hash, topk, normalise) => {
        const path = `/proteins/${hash}?topk_features=${topk}&normalize_features=${normalise}&fold_on_miss=false`;
        const record = await atlas.read(path, wire.protein);
        const [residues, features] = record.per_residue_activations.indices;
        const most = new Map<number, number>();
        for (const [n, f] of features.entries())
          most.set(f, Math.max(most.get(f) ?? 0, record.per_residue_activations.values[n] ?? 0));
        const [indices] = record.protein_activations.indices;
        expect(new Map(indices.map((f, n) => [f, record.protein_activations.values[n]]))).toEqual(most);
        expect(residues.every((r, n) => n === 0 || (residues[n - 1] ?? 0) <= r)).toBe(true);
        const ranked = [...most].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, topk);
        expect(record.sae_features.map(({ feature_index, value }) => [feature_index, value])).toEqual(ranked);
      },
    ),
    { numRuns: 25 },
  );
});

test('regions are the maximal runs of active residues, with their peak and mean', async () => {
  await fc.assert(
    fc.asyncProperty(someHash, async (hash) => {
      const record = await atlas.read(
        `/proteins/${hash}?normalize_features=false&topk_features=30&fold_on_miss=false`,
        wire.protein,
      );
      const active = naiveActivations(record.sequence, threshold);
      for (const { feature_index, residue_regions, label, description } of record.sae_features) {
        const wanted = naiveRegions(active, feature_index, record.sequence.length).map(
          ({ start, end, values }) => ({
            start,
            end,
            peak_residue: start + values.indexOf(Math.max(...values)),
            mean_activation:
              Math.round((values.reduce((a, b) => a + b, 0) / values.length / 1000) * 1e4) / 1e4,
          }),
        );
        expect(residue_regions).toEqual(wanted);
        expect({ label, description }).toEqual({
          label: catalogue[feature_index]?.label,
          description: catalogue[feature_index]?.description,
        });
      }
    }),
    // One of those with a region whose peak is not its first residue.
    { numRuns: 20, examples: [['f7ca8aee02e876e84c0ea83aa257eabf']] },
  );
});

test('the statistics of a feature count the proteins that have it', async () => {
  const byProtein = allProteins.map(({ sequence, accession, reviewed }) => {
    const most = new Map<number, number>();
    for (const [key, value] of naiveActivations(sequence, threshold)) {
      const feature = Number(key.split(' ')[1]);
      most.set(feature, Math.max(most.get(feature) ?? 0, value));
    }
    return { accession, reviewed, most };
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 16383 }), async (index) => {
      const seen = byProtein.flatMap(({ most, ...rest }) =>
        most.has(index) ? [{ ...rest, value: (most.get(index) ?? 0) / 1000 }] : [],
      );
      const got = await known(index);
      expect(got.uniref90_frequency).toBe(seen.length);
      expect(got.uniref90_max_activation).toBe(Math.max(0, ...seen.map(({ value }) => value)));
      expect(got.uniref90_idf).toBeCloseTo(Math.log((allProteins.length + 1) / (seen.length + 0.5)), 12);
      expect(got.threshold * 1000).toBeCloseTo(threshold(index), 6);
      const sorted = seen.map(({ value }) => value).sort((a, b) => b - a);
      expect(got.top_100_uniref_ids.map(({ activation }) => activation)).toEqual(sorted.slice(0, 100));
      const reviewed = seen.filter((one) => one.reviewed);
      expect(got.top_swissprot_activations.length).toBe(Math.min(20, reviewed.length));
      for (const { uniprot_id, activation } of got.top_swissprot_activations)
        expect(reviewed.find(({ accession }) => accession === uniprot_id)?.value).toBe(activation);
    }),
    { numRuns: 200 },
  );
});

test('decoder neighbours are the nearest by cosine of class and property at each offset', async () => {
  const offsets = [
    [0, 1, 2, 3],
    [0, 2, 4, 6],
    [0, 3, 4, 7],
    [0, 1, 5, 6],
  ];
  const decoder = (feature: number): Map<number, number> => {
    const vector = new Map<number, number>();
    const digits = (feature % 4096).toString(8).padStart(4, '0');
    for (const [n, digit] of [...digits].entries()) {
      const at = (offsets[Math.floor(feature / 4096)]?.[n] ?? 0) * 100;
      vector.set(at + Number(digit), 1);
      if (['0', '1', '2'].includes(digit)) vector.set(at + 50, 0.6);
      if (digit === '3') vector.set(at + 51, 0.6);
      if (digit === '4') vector.set(at + 52, 0.6);
    }
    return vector;
  };
  const vectors = Array.from({ length: 16384 }, (_, f) => decoder(f));
  for (const index of [0, 9000, 16383, 4321]) {
    const own = decoder(index);
    const scores = vectors.map((vector, f) => (f === index ? -1 : Math.round(cosine(own, vector) * 1e9)));
    const ranked = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
    expect((await known(index)).decoder_nearest_neighbors).toEqual(ranked.slice(0, 10));
  }
});

test('chosen features keep their order and their repeats, are 0 where inactive, and skip what is not in the catalogue', async () => {
  await fc.assert(
    fc.asyncProperty(
      someHash,
      fc.array(fc.integer({ min: -5, max: 16500 }), { minLength: 1, maxLength: 120 }),
      async (hash, drawn) => {
        const whole = await atlas.read(`/proteins/${hash}?fold_on_miss=false`, wire.protein);
        const [active] = whole.protein_activations.indices;
        const indices = [...active.slice(0, 3), ...drawn, ...active.slice(0, 1)];
        const query = indices.map((i) => `feature_indices=${i}`).join('&');
        const { sae_features } = await atlas.read(
          `/proteins/${hash}?fold_on_miss=false&${query}`,
          wire.protein,
        );
        const wanted = indices.slice(0, 100).filter((i) => i >= 0 && i < 16384);
        expect(sae_features.map(({ feature_index }) => feature_index)).toEqual(wanted);
        for (const { feature_index, value, residue_regions } of sae_features) {
          const at = active.indexOf(feature_index);
          expect(value).toBe(at < 0 ? 0 : whole.protein_activations.values[at]);
          expect(residue_regions.length > 0).toBe(at >= 0);
        }
      },
    ),
    { numRuns: 25 },
  );
});
