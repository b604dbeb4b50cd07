// Documents about few proteins, each reached in many ways and asked for features in many ways: a
// later one meets what an earlier one has left in the caches.
import fc from 'fast-check';
import type { Question } from './world.ts';

/** A protein to ask about. */
export interface RelatedProtein {
  readonly hash: string;
  readonly sequence: string;
  /** The accession of its UniProt entry, where there is one. */
  readonly accession?: string | undefined;
}

/** A field under a key of its own, so that several of one selection do not collide. */
type Field = (key: string) => string;

const weighted = <T>(...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const constant = (text: string): fc.Arbitrary<Field> => fc.constant((key) => `${key}: ${text}`);
const globalId = (type: string, hash: string): string => Buffer.from(`${type}:${hash}`).toString('base64');

/**
 * A selection of some fields. @param prefix - of their keys, other than those of the levels around
 * it
 */
const selection = (prefix: string, field: fc.Arbitrary<Field>): fc.Arbitrary<string> =>
  // Short ones mostly: what collides is in two documents.
  fc
    .oneof(
      { weight: 3, arbitrary: fc.tuple(field) },
      { weight: 1, arbitrary: fc.array(field, { minLength: 2, maxLength: 2 }) },
    )
    .map((fields) => `{ ${fields.map((write, i) => write(`${prefix}${i}`)).join(' ')} }`);

const LEAVES =
  'hash accession source sequence length ptm name organism gene header foldedOnDemand isClusterRepresentative'.split(
    ' ',
  );
const STRUCTURES = ['plddt { mean }', 'plddt { values(start: 3, end: 8) mean }', 'structure { atomCount }'];
const CLUSTER_LEAVES = [
  ...['size', 'name', 'representativeHash', 'percentCharacterized', 'memberHashes'],
  'taxonomy { name }',
];
/** A ranking of one is what answers for chosen features looked like. */
const LENGTHS = [1, 1, 1, 2, 3, 5, 10, 12];
/** No feature has it. */
const NO_FEATURE = 20_000;

/** @param features - indices to choose from */
function featureFields(features: readonly number[]): fc.Arbitrary<Field> {
  const scale = fc.constantFrom('', '', ', normalize: false', ', normalize: true');
  const activation = fc.constantFrom(
    '{ value feature { index } }',
    '{ value feature { index } }',
    '{ value regions { start end } }',
    '{ feature { index } regions { peak end meanActivation } residues(start: 2, end: 9) }',
    '{ value residues(start: 0, end: 12) }',
  );
  const indices = fc.array(fc.constantFrom(...features, NO_FEATURE), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    fc.tuple(fc.constantFrom(...LENGTHS), scale, activation).map(
      ([first, normalize, fields]): Field =>
        (key) =>
          `${key}: features(first: ${first}${normalize}) ${fields}`,
    ),
    fc.tuple(indices, scale, activation).map(
      ([all, normalize, fields]): Field =>
        (key) =>
          `${key}: featureValues(indices: [${all}]${normalize}) ${fields}`,
    ),
  );
}

/**
 * Questions about some proteins, the first two of them most often.
 *
 * @param features - indices of features to ask for
 * @param unknown - a hash that no protein has
 */
export function relatedDocuments(
  proteins: readonly RelatedProtein[],
  features: readonly number[],
  unknown: string,
): fc.Arbitrary<Question> {
  const protein = weighted(...proteins.map((one, i) => [i < 2 ? 8 : 1, fc.constant(one)] as const));
  const hash = weighted([12, protein.map((one) => one.hash)], [1, fc.constant(unknown)]);
  const ofFeatures = featureFields(features);
  const leaf = fc.constantFrom(...LEAVES).chain(constant);
  const structure = fc.constantFrom(...STRUCTURES).chain(constant);
  const own = weighted([8, ofFeatures], [5, leaf], [1, structure]);
  const ownFields = (prefix: string) => selection(prefix, own);
  // A cluster's record has a short ranking of its representative, often without regions.
  const short = constant('features(first: 1) { value regions { start end } }');
  const ofRepresentative = selection('r', weighted([2, own], [2, short], [1, constant('name')]));
  const below = (name: string, fields: fc.Arbitrary<string>): fc.Arbitrary<Field> =>
    fields.map((text) => (key) => `${key}: ${name} ${text}`);

  const clusterFields = selection(
    'c',
    weighted(
      [3, fc.constantFrom(...CLUSTER_LEAVES).chain(constant)],
      [6, below('representative', ofRepresentative)],
      [
        1,
        ownFields('m').map(
          (text): Field =>
            (key) =>
              `${key}: members(first: 1) { nodes ${text} }`,
        ),
      ],
    ),
  );
  const hits = fc
    .tuple(ownFields('h'), ownFields('i'))
    .map(([hit, other]) => `{ hits { score protein ${hit} cluster { name representative ${other} } } }`);
  const linked = weighted(
    [9, ofFeatures],
    [5, leaf],
    [1, structure],
    [4, below('cluster', clusterFields)],
    [
      1,
      hits.map(
        (text): Field =>
          (key) =>
            `${key}: similar(first: 2) ${text}`,
      ),
    ],
    [1, constant('uniprotEntry { name accession }')],
  );
  const fields = selection('p', linked);

  const byAccession = fc.constantFrom(...proteins.flatMap((one) => one.accession ?? []));
  const withFields = (
    root: fc.Arbitrary<string>,
    write: (root: string, text: string) => string,
    selected = fields,
  ): fc.Arbitrary<Field> =>
    fc.tuple(root, selected).map(
      ([at, text]) =>
        (key) =>
          `${key}: ${write(at, text)}`,
    );
  const list = fc.array(hash, { minLength: 1, maxLength: 3 }).map((all) => JSON.stringify(all));
  const root: fc.Arbitrary<Field> = weighted(
    [6, withFields(hash, (one, text) => `protein(hash: "${one}") ${text}`)],
    [3, withFields(list, (all, text) => `proteins(hashes: ${all}) ${text}`)],
    [
      2,
      withFields(hash, (one, text) => `node(id: "${globalId('Protein', one)}") { ... on Protein ${text} }`),
    ],
    [6, withFields(hash, (one, text) => `cluster(hash: "${one}") ${text}`, clusterFields)],
    [1, withFields(byAccession, (id, text) => `uniprotEntry(id: "${id}") { name protein ${text} }`)],
    [
      1,
      withFields(
        fc.tuple(byAccession, hash).map((ids) => JSON.stringify(ids)),
        (ids, text) => `lookup(ids: ${ids}) { requested problem { __typename } protein ${text} }`,
      ),
    ],
    [
      1,
      withFields(
        protein.map((one) => one.sequence),
        (sequence, text) => `proteinBySequence(sequence: "${sequence}") ${text}`,
      ),
    ],
    [
      1,
      withFields(
        protein.map((one) => one.sequence),
        (sequence, text) => `similarProteins(sequence: "${sequence}", first: 2) ${text}`,
        hits,
      ),
    ],
  );
  return fc.record({
    query: fc
      .tuple(root, fc.option(root, { freq: 8, nil: undefined }))
      .map(([one, other]) => `{ ${one('a')} ${other === undefined ? '' : other('b')} }`),
    parts: fc.option(fc.nat(), { freq: 4, nil: undefined }),
  });
}
