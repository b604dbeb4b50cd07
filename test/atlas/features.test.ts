// The features of proteins: certain ones by index, their regions, and their activations along the
// sequence, each against what the service itself says and with the number of calls that it took.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.forget());

/** A record as the service gives it, without the gateway. */
async function record(hash: string, query = ''): Promise<unknown> {
  const url = `${world.sandboxUrl}/atlas/protein/api/v1alpha1/proteins/${hash}?fold_on_miss=false&topk_features=100${query}`;
  const answer: unknown = await (await fetch(url)).json();
  world.forget();
  return answer;
}

/** A feature along the sequence, written out from the service's sparse form. */
function row(answer: unknown, feature: number): number[] {
  const dense = new Array<number>(Number(at(answer, 'sequence_length'))).fill(0);
  const features = listAt(answer, 'per_residue_activations.indices.1');
  const residues = listAt(answer, 'per_residue_activations.indices.0');
  const values = listAt(answer, 'per_residue_activations.values');
  for (const [i, other] of features.entries()) {
    if (other === feature) dense[Number(residues[i])] = Number(values[i]);
  }
  return dense;
}

describe('features by index', () => {
  const QUERY = `query($h: [ProteinHash!]!, $i: [Int!]!, $normalize: Boolean) {
    proteins(hashes: $h) { features: featureValues(indices: $i, normalize: $normalize) { value feature { index } } }
  }`;
  it('are one bulk call for many proteins, aligned, 0 where inactive and null outside the catalogue', async () => {
    const active = listAt(await record(INSULIN), 'sae_features');
    const [first, second] = active.map((value) => Number(at(value, 'feature_index')));
    const inactive = [...Array(50).keys()].find(
      (index) => !active.some((value) => at(value, 'feature_index') === index),
    );
    const indices = [second, 99_999, inactive, first, second];
    await world.query('{ features(first: 1) { nodes { label } } }');
    world.forget();
    const { data, errors } = await world.query(QUERY, { h: [INSULIN, HBA], i: indices });
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ bulk: 1, protein: 2 });
    const [one] = listAt(data, 'proteins');
    expect(at(one, 'features.0.value')).toBe(at(active[1], 'value'));
    expect(at(one, 'features.1')).toBeNull();
    expect(at(one, 'features.2')).toEqual({ value: 0, feature: { index: inactive } });
    expect(at(one, 'features.3.value')).toBe(at(active[0], 'value'));
    expect(at(one, 'features.4')).toEqual(at(one, 'features.0'));
  });

  it('are one record for one protein, and unscaled ones one record for each', async () => {
    const answer = await record(INSULIN, '&normalize_features=false');
    const index = Number(at(answer, 'sae_features.0.feature_index'));
    await world.query(QUERY, { h: [INSULIN], i: [index] });
    expect(world.counts()).toEqual({ protein: 1 });
    world.forget();
    const { data } = await world.query(QUERY, { h: [INSULIN, HBA], i: [index], normalize: false });
    expect(at(data, 'proteins.0.features.0.value')).toBe(at(answer, 'sae_features.0.value'));
    expect(world.counts()).toEqual({ bulk: 1, protein: 2 });
  });

  it('have regions from the record that names them', async () => {
    const answer = await record(HBA);
    const index = Number(at(answer, 'sae_features.3.feature_index'));
    const { data, errors } = await world.query(
      `{ protein(hash: "${HBA}") { features: featureValues(indices: [${index}]) { regions { start end peak meanActivation } } } }`,
    );
    expect(errors).toBeUndefined();
    const along = row(answer, index);
    expect(listAt(data, 'protein.features.0.regions')).toEqual(
      listAt(answer, 'sae_features.3.residue_regions').map((region) => ({
        start: at(region, 'start'),
        // The service sends the last residue or the one after it.
        end: [...along, 0].findIndex((value, i) => i > Number(at(region, 'start')) && value === 0),
        peak: at(region, 'peak_residue'),
        meanActivation: at(region, 'mean_activation'),
      })),
    );
  });
});

describe('a number of features', () => {
  it.each([0, 101])('of %i is refused and told the limit', async (top) => {
    const { errors } = await world.query(
      `{ protein(hash: "${INSULIN}") { features(first: ${top}) { value } } cluster(hash: "${INSULIN}") { representative { features(first: ${top}) { value } } } }`,
    );
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining('must be between 1 and 100'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });
});

describe('activations along the sequence', () => {
  it('are one bulk call for many proteins, each as long as its protein', async () => {
    const { data, errors } = await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { length features(first: 3) { value feature { index } residues } } }`,
      { h: [INSULIN, HBA] },
    );
    expect(errors).toBeUndefined();
    // The record of one shows that the activations are on the scale of rankings.
    expect(world.counts()).toEqual({ bulk: 1, protein: 1 });
    expect(JSON.parse(world.calls[0]?.body ?? '')).toMatchObject({
      include_features: { per_residue: true },
      include_structure: false,
    });
    for (const [n, hash] of [INSULIN, HBA].entries()) {
      const answer = await record(hash);
      const features = listAt(data, `proteins.${n}.features`);
      expect(features).toHaveLength(3);
      for (const feature of features) {
        const index = Number(at(feature, 'feature.index'));
        expect(listAt(feature, 'residues')).toEqual(row(answer, index));
        expect(row(answer, index).some((value) => value > 0)).toBe(true);
      }
    }
  });

  it('come for one protein with the record that has the regions', async () => {
    const answer = await record(INSULIN);
    const { data, errors } = await world.query(
      `{ protein(hash: "${INSULIN}") { features(first: 2) { feature { index } regions { start end } residues(start: 5, end: 25) } } }`,
    );
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ protein: 1 });
    for (const feature of listAt(data, 'protein.features')) {
      expect(listAt(feature, 'residues')).toEqual(
        row(answer, Number(at(feature, 'feature.index'))).slice(5, 25),
      );
    }
  });

  it('are there for chosen and for unscaled features', async () => {
    const [scaled, raw] = [await record(HBA), await record(HBA, '&normalize_features=false')];
    const index = Number(at(scaled, 'sae_features.0.feature_index'));
    const { data, errors } = await world.query(`{
      protein(hash: "${HBA}") {
        chosen: featureValues(indices: [${index}]) { residues }
        raw: featureValues(indices: [${index}], normalize: false) { residues }
      }
      cluster(hash: "${HBA}") { representative { features(first: 1) { feature { index } residues } } representativeHash }
    }`);
    expect(errors).toBeUndefined();
    expect(listAt(data, 'protein.chosen.0.residues')).toEqual(row(scaled, index));
    expect(listAt(data, 'protein.raw.0.residues')).toEqual(row(raw, index));
    expect(row(raw, index)).not.toEqual(row(scaled, index));
    const own = await record(String(at(data, 'cluster.representativeHash')));
    expect(listAt(data, 'cluster.representative.features.0.residues')).toEqual(
      row(own, Number(at(data, 'cluster.representative.features.0.feature.index'))),
    );
  });

  it.each([
    ['features.0.residues', (range: string) => `features(first: 1) { residues(${range}) }`],
    ['plddt.values', (range: string) => `plddt { values(${range}) }`],
  ])('refuses a range of %s that is none, and cuts one that goes past the end', async (path, select) => {
    const ask = (range: string) => world.query(`{ protein(hash: "${INSULIN}") { ${select(range)} } }`);
    expect((await ask('start: 5, end: 2')).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect((await ask('start: -1')).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(listAt((await ask('start: 100, end: 4000')).data, `protein.${path}`)).toHaveLength(10);
    // Proteins of one query differ in length: one that ends before the range has nothing there.
    expect(listAt((await ask('start: 4000')).data, `protein.${path}`)).toEqual([]);
  });
});
