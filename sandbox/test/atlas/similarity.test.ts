// Similarity search is the cosine of the vectors that the records show, and finds what biology
// would find.
import { strFromU8, unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { allHashes, allProteins, smallUniverse, startAtlas } from './harness.ts';
import { cosine, identity } from './naive.ts';
import * as wire from './wire.ts';

const atlas = startAtlas();
const findSequence = (accession: string): string => smallUniverse.uniprot(accession)?.sequence ?? '';
const search = (sequence: string, more = '') =>
  atlas.read(`/similarity-search?sequence=${sequence}${more}`, wire.similarity);
const HBA = findSequence('P69905');

/** The normalised vectors of readable proteins, as the bulk archive gives them. */
async function readVectors(hashes: readonly string[]): Promise<Map<string, Map<number, number>>> {
  const vectors = new Map<string, Map<number, number>>();
  for (let at = 0; at < hashes.length; at += 100) {
    const answer = await atlas.bulk({
      protein_hashes: hashes.slice(at, at + 100),
      include_structure: false,
      include_features: { per_residue: false },
    });
    const members = unzipSync(new Uint8Array(await answer.arrayBuffer()));
    const features = wire.bulkFeatures.parse(
      JSON.parse(strFromU8(members['features.json'] ?? new Uint8Array())),
    );
    for (const [hash, { protein_level }] of Object.entries(features))
      vectors.set(
        hash,
        new Map(protein_level?.indices[0].map((feature, n) => [feature, protein_level.values[n] ?? 0])),
      );
  }
  return vectors;
}
const vectors = await readVectors(allHashes);

test('scores are the cosines of the protein-level vectors, best first, over every protein', async () => {
  for (const accession of ['P69905', 'P0DP23']) {
    const sequence = findSequence(accession);
    const { similar_proteins: hits, restricted_count } = await search(sequence, '&topk_results=60');
    const own = vectors.get(smallUniverse.uniprot(accession)?.hash ?? '') ?? new Map();
    const wanted = [...vectors].map(([hash, vector]) => ({ hash, score: cosine(own, vector) }));
    wanted.sort((a, b) => b.score - a.score);
    expect(hits.length).toBe(60 - restricted_count);
    for (const [n, hit] of hits.entries()) {
      const exact = wanted.find(({ hash }) => hash === hit.protein_hash)?.score ?? -1;
      expect(hit.similarity_score).toBeCloseTo(exact, 3);
      expect(hit.similarity_score).toBeCloseTo(wanted[n]?.score ?? -1, 3);
    }
  }
});

test('alpha haemoglobin finds beta and myoglobin homologs above proteins that are no globins', async () => {
  const { similar_proteins: hits } = await search(HBA, '&topk_results=100&include_cluster_info=true');
  expect(hits[0]).toMatchObject({ similarity_score: 1 });
  const globin = (name: string | null | undefined): boolean => /Hemoglobin|Myoglobin/.test(name ?? '');
  const firstOther = hits.findIndex(({ protein_name }) => !globin(protein_name));
  const above = hits.slice(0, firstOther).map(({ protein_name }) => protein_name ?? '');
  expect(above.filter((name) => name.startsWith('Hemoglobin subunit alpha')).length).toBeGreaterThanOrEqual(
    10,
  );
  expect(above.filter((name) => name.startsWith('Hemoglobin subunit beta')).length).toBeGreaterThanOrEqual(8);
  expect(above.filter((name) => name.startsWith('Myoglobin')).length).toBeGreaterThanOrEqual(3);
});

/** Spearman's rank correlation. */
function rankCorrelation(pairs: readonly (readonly [number, number])[]): number {
  const ranks = (values: number[]): number[] => {
    const sorted = [...values].sort((a, b) => a - b);
    return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
  };
  const a = ranks(pairs.map(([x]) => x));
  const b = ranks(pairs.map(([, y]) => y));
  const mean = (pairs.length - 1) / 2;
  const covariance = (x: number[], y: number[]): number =>
    x.reduce((sum, v, n) => sum + (v - mean) * ((y[n] ?? 0) - mean), 0);
  return covariance(a, b) / Math.sqrt(covariance(a, a) * covariance(b, b));
}

test('homologs rank by identity', async () => {
  for (const accession of ['P01308', 'P00698', 'P99999']) {
    const sequence = findSequence(accession);
    const protein = smallUniverse.protein(smallUniverse.uniprot(accession)?.hash ?? '');
    const family = allProteins.filter(({ cluster }) => cluster === protein?.cluster);
    const { similar_proteins: hits } = await search(sequence, '&topk_results=50');
    const scores = new Map(hits.map((hit) => [hit.protein_hash, hit.similarity_score]));
    const pairs = family.map(
      (member) => [identity(sequence, member.sequence), scores.get(member.hash) ?? 0] as const,
    );
    expect(rankCorrelation(pairs), accession).toBeGreaterThan(0.9);
  }
});

test('withheld proteins are counted among the best and never shown', async () => {
  let withheld = 0;
  for (const accession of ['P69905', 'P01308', 'P68871']) {
    const { similar_proteins: hits, restricted_count } = await search(
      findSequence(accession),
      '&topk_results=30',
    );
    withheld += restricted_count;
    expect(hits.length + restricted_count).toBe(30);
    for (const { protein_hash } of hits)
      expect((await atlas.get(`/proteins/${protein_hash}`)).status).toBe(200);
  }
  expect(withheld).toBeGreaterThan(0);
});

test('min_similarity, topk_results and the share characterised narrow the answer', async () => {
  const all = await search(HBA, '&topk_results=100');
  const some = await search(HBA, '&topk_results=100&min_similarity=0.2');
  expect(some.similar_proteins).toEqual(
    all.similar_proteins.filter(({ similarity_score }) => similarity_score >= 0.2),
  );
  expect((await search(HBA)).similar_proteins.length + (await search(HBA)).restricted_count).toBe(10);

  const dark = await search(
    HBA,
    '&cluster_pct_characterized_max=0&topk_results=100&include_cluster_info=true',
  );
  expect(dark.similar_proteins.length).toBeGreaterThan(5);
  for (const { protein_hash } of dark.similar_proteins) {
    const cluster = smallUniverse.cluster(smallUniverse.protein(protein_hash)?.cluster ?? -1);
    expect(cluster?.pctCharacterized).toBe(0);
  }
});

test('a hit is not excluded by its own score', async () => {
  const { similar_proteins: hits } = await search(HBA, '&topk_results=20');
  expect(hits[0]?.similarity_score).toBe(1);
  for (const { similarity_score: score, protein_hash } of hits) {
    const { similar_proteins: found } = await search(HBA, `&topk_results=20&min_similarity=${score}`);
    expect(found.map((hit) => hit.protein_hash)).toContain(protein_hash);
  }
});

test('every hit has its whole structure, and cluster information when asked for', async () => {
  const { similar_proteins: hits } = await search(HBA, '&include_cluster_info=true&topk_results=20');
  expect(hits.some(({ pdb }) => pdb !== null)).toBe(true);
  for (const hit of hits) {
    const record = await atlas.read(`/proteins/${hit.protein_hash}?fold_on_miss=false`, wire.protein);
    const { pdb, ptm, mean_plddt, residues_plddt, sequence_length, accession } = record;
    expect(hit).toMatchObject({
      pdb,
      ptm,
      mean_plddt,
      residues_plddt,
      sequence_length,
      protein_accession: accession,
    });
    const cluster = await atlas.read(
      `/clusters/${record.cluster_rep_protein_hash ?? hit.protein_hash}`,
      wire.cluster,
    );
    expect(hit).toMatchObject({ cluster_size: cluster.cluster_size, protein_name: cluster.protein_name });
  }
  const bare = await search(HBA);
  expect(bare.similar_proteins[0]).not.toHaveProperty('cluster_size');
});

test('top features across results are counted and averaged over the hits', async () => {
  const { similar_proteins: hits, top_features_across_results: top } = await search(HBA, '&topk_features=30');
  const shown = hits.map(({ protein_hash }) => vectors.get(protein_hash));
  expect(top).toHaveLength(30);
  for (const { feature_index, occurrence_count, min_activation, max_activation, mean_activation } of top) {
    const values = shown.flatMap((vector) => vector?.get(feature_index) ?? []);
    expect(occurrence_count).toBe(values.length);
    expect(min_activation).toBeCloseTo(Math.min(...values), 3);
    expect(max_activation).toBeCloseTo(Math.max(...values), 3);
    expect(mean_activation).toBeCloseTo(values.reduce((a, b) => a + b, 0) / values.length, 3);
  }
});

test('the query may be unknown, lower case, and as long as 2,048 residues, but no longer', async () => {
  const known = await search(`%20${HBA.toLowerCase()}*`);
  expect(known).toMatchObject({ query_sequence: HBA, protein_hash: smallUniverse.uniprot('P69905')?.hash });
  expect(await search(`${HBA}W`)).not.toHaveProperty('protein_hash');
  const long = HBA.repeat(15);
  expect((await search(long.slice(0, 2048))).query_sequence).toHaveLength(2048);
  const refused = await atlas.get(`/similarity-search?sequence=${long.slice(0, 2049)}`);
  expect(refused.status).toBe(422);
  expect(wire.validation.parse(await refused.json()).detail[0]).toMatchObject({
    loc: ['query', 'sequence'],
    type: 'string_too_long',
    ctx: { max_length: 2048 },
  });
});
