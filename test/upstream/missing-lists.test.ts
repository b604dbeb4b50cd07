// Records that lost a list that they must have: an error each time, and the right answer as soon as
// the service is whole again.
import { describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { HASH, openLyingPlace, openPlace, SEQUENCE, says, sends } from './liar.ts';

const { liar, place } = await openLyingPlace({ CACHE_RECORDS_SECONDS: '3600' });

const NO_RESPONSE_CACHE = { limits: { responseCacheBytes: 0 } };
const RECORD = { protein_hash: HASH, sequence: SEQUENCE, sequence_length: SEQUENCE.length };

describe('a record without `sae_features`', () => {
  it.each([
    ['features(first: 3)', {}],
    ['features(first: 3, normalize: false)', {}],
    ['features: featureValues(indices: [7], normalize: false)', {}],
    ['features(first: 3, normalize: false)', { sae_features: null }],
    ['features(first: 3)', { sae_features: {} }],
  ])('is drift, not an empty list: %s of %j', async (field, more) => {
    liar.script('protein', says(200, { ...RECORD, ...more }));
    const { data, errors } = await place.query(`{ protein(hash: "${HASH}") { hash ${field} { value } } }`);
    expect(at(data, 'protein.features') ?? null).toBeNull();
    expect(errors?.[0]?.extensions.code).toMatch(/UPSTREAM_/);
  });

  it('has regions that fit neither convention: drift', async () => {
    const region = { start: 9, end: 4, peak_residue: 7, mean_activation: 1 };
    const sae_features = [{ feature_index: 7, value: 1, residue_regions: [region] }];
    liar.script('protein', says(200, { ...RECORD, sae_features }));
    const { errors } = await place.query(
      `{ protein(hash: "${HASH}") { features(first: 1) { regions { end } } } }`,
    );
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
  });
});

it('a feature whose value is NaN is left out of its list, and the others are told', async () => {
  const list =
    '[{"feature_index":7,"value":2},{"feature_index":8,"value":NaN},{"feature_index":9,"value":1}]';
  const cluster = `{"protein_hash":"${HASH}","member_protein_hashes":["${HASH}"]`;
  liar.script(
    'protein',
    sends(Buffer.from(`${JSON.stringify(RECORD).slice(0, -1)},"sae_features":${list}}`)),
  );
  liar.script('cluster', sends(Buffer.from(`${cluster},"cluster_representative_features":${list}}`)));
  const fresh = openPlace(liar.url);
  const features = 'features(first: 3) { feature { index } value }';
  const told = [
    { feature: { index: 7 }, value: 2 },
    { feature: { index: 9 }, value: 1 },
  ];
  expect(await fresh.query(`{ protein(hash: "${HASH}") { ${features} } }`)).toEqual({
    data: { protein: { features: told } },
  });
  expect(await fresh.query(`{ cluster(hash: "${HASH}") { representative { ${features} } } }`)).toEqual({
    data: { cluster: { representative: { features: told } } },
  });
  await fresh.gateway.close();
});

describe('the index of a feature that is outside the catalogue', () => {
  const features = `{ protein(hash: "${HASH}") { features(first: 1) { feature { index } residues } } }`;
  const cluster = `{ cluster(hash: "${HASH}") { representative { features(first: 1) { feature { index } } } } }`;
  const similar = `{ similarProteins(sequence: "${SEQUENCE}") { sharedFeatures { feature { index } } } }`;
  const neighbors = '{ feature(index: 7) { nearestNeighbors(first: 2) { index } } }';
  const ranking = (index: number) => [{ feature_index: index, value: 1 }];
  const rows = (index: number) => ({ shape: [110, 16_384], indices: [[4], [index]], values: [1] });
  it.each([
    [
      'protein',
      'a ranking',
      features,
      (i: number) => ({ ...RECORD, sae_features: ranking(i), per_residue_activations: rows(7) }),
    ],
    [
      'protein',
      'activations along a sequence',
      features,
      (i: number) => ({ ...RECORD, sae_features: ranking(7), per_residue_activations: rows(i) }),
    ],
    [
      'cluster',
      'a cluster',
      cluster,
      (i: number) => ({
        protein_hash: HASH,
        cluster_size: 1,
        member_protein_hashes: [HASH],
        cluster_representative_features: ranking(i),
      }),
    ],
    [
      'similarity',
      'the shared features of a search',
      similar,
      (i: number) => ({
        similar_proteins: [],
        restricted_count: 0,
        top_features_across_results: [{ feature_index: i, occurrence_count: 1 }],
      }),
    ],
    [
      'features',
      'a row of the catalogue',
      '{ features(first: 1) { nodes { index label } } }',
      (i: number) => ({ data: [{ feature_index: i, label: 'helix', description: 'A helix.' }] }),
    ],
    [
      'feature',
      'the nearest neighbors of a feature',
      neighbors,
      (i: number) => ({
        feature_index: 7,
        top_100_uniref_ids: [],
        top_swissprot_activations: [],
        decoder_nearest_neighbors: [3, i],
      }),
    ],
  ])('is drift in the answer of %s, of %s', async (operation, _, query, body) => {
    for (const index of [16_384, 99_999_999, -1, 1.5]) {
      liar.script(operation, says(200, body(index)));
      // One that knows nothing of the protein from before.
      const fresh = openPlace(liar.url);
      const { errors } = await fresh.query(query);
      await fresh.gateway.close();
      expect([index, errors?.[0]?.extensions.code]).toEqual([index, 'UPSTREAM_DRIFT']);
    }
    const own = openPlace(liar.url);
    liar.script('features', says(200, { data: [{ feature_index: 3, label: 'helix', description: null }] }));
    liar.script(operation, says(200, body(16_383)));
    expect((await own.query(query)).errors).toBeUndefined();
    await own.gateway.close();
  });
});

describe('a feature without a label', () => {
  it.each([null, ''])('(%j) is named by its index, and others keep their labels', async (label) => {
    // Not in their order, which the service does not promise.
    const data = [
      { feature_index: 7, label: 'helix', description: 'A helix.' },
      { feature_index: 3, label, description: 'Unknown.' },
    ];
    const sae_features = [
      { feature_index: 3, value: 2, label },
      { feature_index: 7, value: 1 },
    ];
    liar.script('features', says(200, { data }));
    liar.script('protein', says(200, { ...RECORD, sae_features }));
    const own = openPlace(liar.url);
    const answer = await own.query(
      `{ feature(index: 3) { label } features { nodes { label } }
         search: features(search: "unknown") { nodes { label } }
         protein(hash: "${HASH}") { features(first: 2) { feature { label } } } }`,
    );
    await own.gateway.close();
    const named = { label: 'Feature 3' };
    const helix = { label: 'helix' };
    expect(answer).toEqual({
      data: {
        feature: named,
        features: { nodes: [named, helix] },
        search: { nodes: [named] },
        protein: { features: [{ feature: named }, { feature: helix }] },
      },
    });
  });

  it('is drift where the label is not there at all', async () => {
    liar.script('features', says(200, { data: [{ feature_index: 3 }] }));
    const own = openPlace(liar.url);
    const { errors } = await own.query('{ feature(index: 3) { label } features { nodes { label } } }');
    await own.gateway.close();
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
  });
});

describe('details of a feature', () => {
  const WHOLE = {
    feature_index: 7,
    label: 'helix',
    summary: 'A helix.',
    top_100_uniref_ids: [],
    top_swissprot_activations: [],
    decoder_nearest_neighbors: [3, 1],
  };
  const { decoder_nearest_neighbors: _, ...withoutList } = WHOLE;
  it.each([
    ['without a list', withoutList],
    ['with a list of another type', { ...WHOLE, decoder_nearest_neighbors: 'none' }],
    ['with a text of another type', { ...WHOLE, summary: 7 }],
  ])('%s are not cached, whole ones are', async (_name, odd) => {
    // The cache of details is meant: the response cache may give a response again for a minute.
    const own = openPlace(liar.url, {}, NO_RESPONSE_CACHE);
    const ask = () =>
      own.query('{ feature(index: 7) { summary category nearestNeighbors(first: 2) { index } } }');
    try {
      liar.script('feature', says(200, odd));
      await ask();
      liar.script('feature', says(200, WHOLE));
      const whole = {
        feature: { summary: 'A helix.', category: null, nearestNeighbors: [{ index: 3 }, { index: 1 }] },
      };
      expect(await ask()).toMatchObject({ data: whole });
      liar.seen.length = 0;
      expect(await ask()).toMatchObject({ data: whole });
      expect(liar.seen).toEqual([]);
    } finally {
      await own.gateway.close();
    }
  });
});

describe('what the service says while it is not ready', () => {
  it.each([
    [
      'a catalogue without features',
      'features',
      { data: [] },
      { data: [{ feature_index: 7, label: 'helix', description: 'A helix.' }] },
      '{ found: feature(index: 7) { label } }',
      { label: 'helix' },
    ],
    [
      'an entry without its sequence and its hash',
      'uniprot',
      {},
      { accession: 'P01308', protein_name: 'Insulin', sequence: SEQUENCE, protein_hash: HASH },
      '{ found: uniprotEntry(id: "P01308") { name } }',
      { name: 'Insulin' },
    ],
  ])('%s is not cached', async (_name, operation, odd, whole, query, expected) => {
    // The cache of records is meant: the response cache may give a response again for a minute.
    const own = openPlace(liar.url, {}, NO_RESPONSE_CACHE);
    try {
      liar.script('feature', says(404, { detail: 'Feature 7 not found' }));
      liar.script(operation, says(200, odd));
      await own.query(query);
      liar.script(operation, says(200, whole));
      expect((await own.query(query)).data).toEqual({ found: expected });
      liar.seen.length = 0;
      expect((await own.query(query)).data).toEqual({ found: expected });
      expect(liar.seen).toEqual([]);
    } finally {
      await own.gateway.close();
    }
  });
});

describe('a list of members that is not that of all', () => {
  const OTHER = 'f'.repeat(32);
  const CLUSTER = {
    protein_hash: HASH,
    cluster_size: 2,
    cluster_top_pfam_domains: {},
    top_phyla: {},
    cluster_representative_features: [],
  };
  it.each([
    ['too short', [HASH]],
    ['with a member twice', [HASH, HASH]],
    ['without the representative', [OTHER, 'e'.repeat(32)]],
    ['too long', [HASH, OTHER, 'e'.repeat(32)]],
  ])('%s is drift, and is not cached', async (_name, members) => {
    // The cache of records is meant: the response cache may give a response again for a minute.
    const own = openPlace(liar.url, { CACHE_RECORDS_SECONDS: '3600' }, NO_RESPONSE_CACHE);
    const ask = (field: string) => own.query(`{ cluster(hash: "${HASH}") { ${field} } }`);
    try {
      for (const field of ['memberHashes', 'members { totalCount }']) {
        liar.script('cluster', says(200, { ...CLUSTER, member_protein_hashes: members }));
        const { errors } = await ask(field);
        expect(errors?.[0]).toMatchObject({
          path: ['cluster', field.split(' ')[0]],
          extensions: { code: 'UPSTREAM_DRIFT' },
        });
        expect(errors?.[0]?.message).toContain('$.member_protein_hashes: expected 2 different hashes');
      }
      liar.script('cluster', says(200, { ...CLUSTER, member_protein_hashes: [HASH, OTHER] }));
      expect((await ask('memberHashes')).data).toEqual({ cluster: { memberHashes: [HASH, OTHER] } });
    } finally {
      await own.gateway.close();
    }
  });

  it.each([
    ['top_phyla', 'phyla { name }'],
    ['cluster_top_pfam_domains', 'pfamDomains { id }'],
  ])('is not cached, nor is a cluster without %s; whole ones are', async (key, field) => {
    const own = openPlace(liar.url, { CACHE_RECORDS_SECONDS: '3600' }, NO_RESPONSE_CACHE);
    const ask = () => own.query(`{ cluster(hash: "${HASH}") { members { totalCount } ${field} } }`);
    const whole = { ...CLUSTER, member_protein_hashes: [HASH, OTHER] };
    liar.script('cluster', says(200, { ...whole, [key]: undefined }));
    expect((await ask()).errors?.[0]).toMatchObject({ extensions: { code: 'UPSTREAM_DRIFT' } });
    liar.script('cluster', says(200, whole));
    const answer = await ask();
    expect(answer.errors).toBeUndefined();
    liar.script('cluster', says(500, {}));
    expect(await ask()).toEqual(answer);
    await own.gateway.close();
  });

  it('is shown by a member twice also where the service does not say how many there are', async () => {
    const own = openPlace(liar.url, {}, NO_RESPONSE_CACHE);
    const { cluster_size: _, ...unsized } = CLUSTER;
    const ask = (members: readonly string[]) => {
      liar.script('cluster', says(200, { ...unsized, member_protein_hashes: members }));
      return own.query(`{ cluster(hash: "${HASH}") { memberHashes } }`);
    };
    const { errors } = await ask([HASH, HASH]);
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'UPSTREAM_DRIFT' } });
    expect((await ask([HASH, OTHER])).data).toEqual({ cluster: { memberHashes: [HASH, OTHER] } });
    await own.gateway.close();
  });
});

describe('a search', () => {
  it.each([
    ['restricted_count', 'restrictedCount', undefined],
    ['restricted_count', 'restrictedCount', 'many'],
    ['top_features_across_results', 'sharedFeatures { occurrences }', undefined],
  ])('is, without a readable %s, drift at %s only', async (key, field, value) => {
    // The cache of details is meant: the response cache may give a response again for a minute.
    const own = openPlace(liar.url, {}, NO_RESPONSE_CACHE);
    const whole = { restricted_count: 0, top_features_across_results: [], similar_proteins: [] };
    try {
      liar.script('similarity', says(200, { ...whole, [key]: value }));
      const search = (selection: string) =>
        own.query(`{ similarProteins(sequence: "${SEQUENCE}") { ${selection} } }`);
      const { errors } = await search(field);
      expect(errors?.[0]).toMatchObject({
        path: ['similarProteins', field.split(' ')[0]],
        extensions: { code: 'UPSTREAM_DRIFT' },
      });
      expect((await search('hits { score }')).data).toEqual({ similarProteins: { hits: [] } });
    } finally {
      await own.gateway.close();
    }
  });
});
