// The queries that are measured, and the data that each must be answered with, computed from the
// hash.
import { clusterFacts, spellSequence, toRepresentative, toTemplate } from '../world/facts.ts';
import type { Template } from '../world/templates.ts';
import type { Bench } from './bench.ts';

export const TINY = '{ features(first: 10) { nodes { index label } } }';
const activations = (first: number): string => `features(first: ${first}) { value feature { index label } }`;
const CLUSTER = 'cluster { representativeHash name size percentCharacterized }';
export const SMALL = 'query Small($hash: ProteinHash!) { protein(hash: $hash) { hash length sequence } }';
/** The features of each protein of a short list, and of one that asks for more. */
const TOP = 5;
export const TOP_OF_TEN = 10;
export const ONE = `query One($hash: ProteinHash!) { protein(hash: $hash) { hash length ptm ${CLUSTER} ${activations(TOP)} } }`;
const list = (activations: string): string =>
  `query List($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { hash ${CLUSTER} ${activations} } }`;
export const LIST = list(activations(TOP));
export const LIST_OF_TEN = list(activations(TOP_OF_TEN));
export const STRUCTURES =
  'query Structures($ids: [String!]!) { lookup(ids: $ids) { requested protein { hash structure(plddtScale: UNIT) { text } } } }';
export const STREAMED =
  'query Streamed($ids: [String!]!) { lookup(ids: $ids) @stream(initialCount: 1) { requested protein { hash structure(plddtScale: UNIT) { text } } } }';

const atomLines = (text: string): string => text.match(/^ATOM .*$/gm)?.join('\n') ?? '';

/** Keeps of the text of a structure the lines of its atoms; a reviver of JSON.parse. */
export const keepAtoms = (key: string, value: unknown): unknown =>
  key === 'text' && typeof value === 'string' ? atomLines(value) : value;

/** The answer that a query on proteins must get. */
export function openExpected({ templates, findNumber }: Pick<Bench, 'templates' | 'findNumber'>) {
  const pick = (hash: string): Template & { readonly sequence: string } => {
    const number = findNumber(hash) ?? Number.NaN;
    const template = templates[toTemplate(number)];
    if (template === undefined) throw new RangeError(`Protein ${hash} was not fresh.`);
    return { ...template, sequence: spellSequence(number) };
  };
  const cluster = (hash: string) => {
    const facts = clusterFacts(toRepresentative(hash));
    return {
      representativeHash: facts.protein_hash,
      name: facts.protein_name,
      size: facts.cluster_size,
      percentCharacterized: facts.cluster_pct_characterized,
    };
  };
  const features = (hash: string, top = TOP) =>
    pick(hash)
      .features.slice(0, top)
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
    list: (hashes: readonly string[], top = TOP) => ({
      proteins: hashes.map((hash) => ({ hash, cluster: cluster(hash), features: features(hash, top) })),
    }),
    /** The atoms of each text alone: every server writes a header of its own. */
    structures: (hashes: readonly string[]) => ({
      lookup: hashes.map((hash) => ({
        requested: hash,
        protein: { hash, structure: { text: atomLines(pick(hash).memberPdb) } },
      })),
    }),
  };
}
