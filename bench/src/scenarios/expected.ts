// The queries that are measured, and the data that each must be answered with, computed from the hash.
import { clusterFacts, entryHash, representativeOf, sequenceOf, templateOf } from '../world/facts.ts';
import type { Template } from '../world/templates.ts';
import type { Bench } from './bench.ts';

export const TINY = '{ features(first: 10) { nodes { index label } } }';
const ACTIVATIONS = 'features(first: 5) { value feature { index label } }';
const CLUSTER = 'cluster { representativeHash name size percentCharacterized }';
export const ONE = `query One($hash: ProteinHash!) { protein(hash: $hash) { hash length ptm ${CLUSTER} ${ACTIVATIONS} } }`;
export const SMALL = 'query Small($hash: ProteinHash!) { protein(hash: $hash) { hash length sequence } }';
export const UNLIKE = `query Unlike($hash: ProteinHash!, $id: String!) { protein(hash: $hash) { hash length ${ACTIVATIONS} } uniprotEntry(id: $id) { accession name gene organism proteinHash } }`;
export const LIST = `query List($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { hash ${CLUSTER} ${ACTIVATIONS} } }`;
export const STRUCTURES =
  'query Structures($ids: [String!]!) { lookup(ids: $ids) { requested protein { hash structure(plddtScale: UNIT) { text } } } }';
export const STREAMED =
  'query Streamed($ids: [String!]!) { lookup(ids: $ids) @stream(initialCount: 1) { requested protein { hash structure(plddtScale: UNIT) { text } } } }';
export const PICTURE = 'query Picture($hash: ProteinHash!) { protein(hash: $hash) { thumbnail { base64 } } }';

/** What a query on proteins must be answered with. */
export function openExpected({ templates, numberOf }: Pick<Bench, 'templates' | 'numberOf'>) {
  const pick = (hash: string): Template & { readonly sequence: string } => {
    const number = numberOf(hash) ?? Number.NaN;
    const template = templates[templateOf(number)];
    if (template === undefined) throw new RangeError(`Protein ${hash} was not fresh.`);
    return { ...template, sequence: sequenceOf(number) };
  };
  const cluster = (hash: string) => {
    const facts = clusterFacts(representativeOf(hash));
    return {
      representativeHash: facts.protein_hash,
      name: facts.protein_name,
      size: facts.cluster_size,
      percentCharacterized: facts.cluster_pct_characterized,
    };
  };
  const features = (hash: string) =>
    pick(hash)
      .features.slice(0, 5)
      .map(({ feature_index: index, value, label }) => ({ value, feature: { index, label } }));
  return {
    one: (hash: string) => ({
      protein: {
        hash,
        length: pick(hash).sequence.length,
        ptm: pick(hash).ptm,
        cluster: cluster(hash),
        features: features(hash),
      },
    }),
    small: (hash: string) => ({
      protein: { hash, length: pick(hash).sequence.length, sequence: pick(hash).sequence },
    }),
    unlike: (hash: string, id: string) => ({
      protein: { hash, length: pick(hash).sequence.length, features: features(hash) },
      uniprotEntry: {
        accession: id,
        name: `Protein ${id}`,
        gene: id.toLowerCase(),
        organism: 'Homo sapiens',
        proteinHash: entryHash(id),
      },
    }),
    list: (hashes: readonly string[]) => ({
      proteins: hashes.map((hash) => ({ hash, cluster: cluster(hash), features: features(hash) })),
    }),
    /** @param form - which text: that of the single record or that of the archive */
    structures: (hashes: readonly string[], form: 'recordPdb' | 'memberPdb') => ({
      lookup: hashes.map((hash) => ({
        requested: hash,
        protein: { hash, structure: { text: pick(hash)[form] } },
      })),
    }),
    picture: (hash: string) => ({
      protein: { thumbnail: { base64: Buffer.from(pick(hash).png).toString('base64') } },
    }),
  };
}
