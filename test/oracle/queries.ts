// Random read queries over proteins, clusters and features: nested, with aliases, fragments,
// duplicates, and identifiers of every kind of protein there is.
import fc from 'fast-check';

/** Identifiers to draw from. */
export interface Subjects {
  /**
   * Hashes: representatives, members, unclustered, structureless and unfolded proteins, and unknown
   * ones.
   */
  readonly hashes: readonly string[];
  readonly accessions: readonly string[];
  readonly sequences: readonly string[];
  readonly features: readonly number[];
}

interface FieldChoice {
  readonly name: string;
  /** Arguments as they stand in the query, such as `top: 3`; empty where there are none. */
  readonly args?: fc.Arbitrary<string>;
  /** The type that the selection below it is on; absent for leaves. */
  readonly type?: string;
}

const optionally = (args: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 3, arbitrary: args });
const scale = optionally(fc.constantFrom('scale: UNIT', 'scale: PERCENT'));
const slice = fc
  .tuple(fc.nat(60), fc.option(fc.nat(60), { nil: undefined }))
  .map(([start, more]) => `start: ${start}${more === undefined ? '' : `, end: ${start + more}`}`);
const leaves = (...names: string[]): FieldChoice[] => names.map((name) => ({ name }));
const quoted = (texts: readonly string[]): string => `[${texts.map((t) => JSON.stringify(t)).join(', ')}]`;
const globalId = (type: string, key: string | number): string =>
  Buffer.from(`${type}:${key}`).toString('base64');

function listChoices({ hashes, accessions, sequences, features }: Subjects) {
  const hash = fc.constantFrom(...hashes);
  const index = fc.constantFrom(...features);
  const accession = fc.constantFrom(...accessions);
  const sequence = fc.constantFrom(...sequences).map((text) => `sequence: ${JSON.stringify(text)}`);
  const found = fc.oneof(
    hash.map((key) => globalId('Protein', key)),
    hash.map((key) => globalId('Cluster', key)),
    index.map((key) => globalId('Feature', key)),
  );
  const lists = (one: fc.Arbitrary<string>, maxLength: number) =>
    fc.array(one, { maxLength, minLength: 1, size: 'max' });
  // Most lists are short; some are longer than the sandbox answers at once.
  const hashLists = fc.oneof(
    { weight: 40, arbitrary: lists(hash, 6) },
    { weight: 1, arbitrary: lists(hash, 130) },
  );
  const page = optionally(fc.nat(4).map((count) => `first: ${count}`));
  const ranked = fc
    .tuple(fc.integer({ min: 1, max: 14 }), fc.constantFrom('', ', normalize: false'))
    .map(([count, more]) => `first: ${count}${more}`);
  const chosen = fc
    .tuple(fc.array(index, { minLength: 1, maxLength: 4 }), fc.constantFrom('', ', normalize: false'))
    .map(([all, more]) => `indices: [${all}]${more}`);
  const similar = fc
    .tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('', ', minSimilarity: 0.4', ', maxPercentCharacterized: 40'),
    )
    .map(([first, more]) => `first: ${first}${more}`);
  const node = [
    { name: '... on Protein', type: 'Protein' },
    { name: '... on Cluster', type: 'Cluster' },
    { name: '... on Feature', type: 'Feature' },
    ...leaves('__typename'),
  ];
  const choices: Record<string, FieldChoice[]> = {
    Query: [
      { name: 'protein', args: hash.map((key) => `hash: "${key}"`), type: 'Protein' },
      { name: 'proteins', args: hashLists.map((all) => `hashes: ${quoted(all)}`), type: 'Protein' },
      { name: 'proteins', args: hashLists.map((all) => `hashes: ${quoted(all)}`), type: 'Protein' },
      { name: 'proteinBySequence', args: sequence, type: 'Protein' },
      { name: 'cluster', args: hash.map((key) => `hash: "${key}"`), type: 'Cluster' },
      { name: 'feature', args: index.map((key) => `index: ${key}`), type: 'Feature' },
      { name: 'features', args: page.map((text) => text || 'first: 3'), type: 'FeatureConnection' },
      { name: 'uniprotEntry', args: accession.map((id) => `id: "${id}"`), type: 'UniprotEntry' },
      {
        name: 'lookup',
        args: lists(fc.oneof(hash, accession), 5).map((ids) => `ids: ${quoted(ids)}`),
        type: 'ProteinLookup',
      },
      { name: 'node', args: found.map((id) => `id: "${id}"`), type: 'Node' },
      { name: 'nodes', args: lists(found, 4).map((ids) => `ids: ${quoted(ids)}`), type: 'Node' },
      {
        name: 'similarProteins',
        args: fc.tuple(sequence, similar).map(([one, more]) => `${one}, ${more}`),
        type: 'SimilaritySearch',
      },
    ],
    Protein: [
      ...leaves('id', 'hash', 'accession', 'source', 'sequence', 'length', 'ptm', 'foldedOnDemand'),
      ...leaves('isClusterRepresentative', 'ptm', 'length', 'name', 'organism', 'gene', 'header'),
      { name: 'uniprotEntry', type: 'UniprotEntry' },
      { name: 'plddt', type: 'Plddt' },
      { name: 'structure', type: 'Structure' },
      { name: 'cluster', type: 'Cluster' },
      { name: 'cluster', type: 'Cluster' },
      { name: 'features', args: optionally(ranked), type: 'FeatureActivation' },
      { name: 'featureValues', args: chosen, type: 'FeatureActivation' },
      { name: 'similar', args: similar, type: 'SimilaritySearch' },
    ],
    Structure: leaves('atomCount'),
    Plddt: [{ name: 'mean', args: scale }, ...leaves('length'), { name: 'values', args: optionally(slice) }],
    FeatureActivation: [
      ...leaves('value', 'value'),
      { name: 'feature', type: 'Feature' },
      { name: 'regions', type: 'ResidueRegion' },
      { name: 'residues', args: optionally(slice) },
    ],
    ResidueRegion: leaves('start', 'end', 'peak', 'meanActivation'),
    Cluster: [
      ...leaves('id', 'representativeHash', 'name', 'size', 'percentCharacterized'),
      ...leaves('percentDomainCoverage', 'memberHashes'),
      { name: 'representative', type: 'Protein' },
      { name: 'taxonomy', type: 'Taxonomy' },
      { name: 'members', args: page.map((text) => text || 'first: 3'), type: 'ProteinConnection' },
    ],
    ProteinConnection: [...leaves('totalCount'), { name: 'nodes', type: 'Protein' }],
    Taxonomy: leaves('rank', 'name'),
    Feature: [
      ...leaves('id', 'index', 'label', 'description', 'summary', 'category', 'threshold'),
      { name: 'nearestNeighbors', args: optionally(fc.nat(4).map((n) => `first: ${n}`)), type: 'Feature' },
    ],
    FeatureConnection: [...leaves('totalCount'), { name: 'nodes', type: 'Feature' }],
    UniprotEntry: [
      ...leaves('accession', 'name', 'organism', 'sequence', 'proteinHash'),
      { name: 'protein', type: 'Protein' },
    ],
    ProteinLookup: [
      ...leaves('requested'),
      { name: 'problem', type: 'Problem' },
      { name: 'protein', type: 'Protein' },
    ],
    Problem: leaves('__typename'),
    Node: node,
    SimilaritySearch: [
      ...leaves('queryHash', 'restrictedCount'),
      { name: 'queryProtein', type: 'Protein' },
      { name: 'hits', type: 'SimilarityHit' },
    ],
    SimilarityHit: [
      ...leaves('score'),
      { name: 'protein', type: 'Protein' },
      { name: 'cluster', type: 'Cluster' },
    ],
  };
  return choices;
}

/** The form of the queries. */
export interface QueryForm {
  /** Levels of objects below the root. */
  readonly deepest: number;
  /** Fields at the root, and on each other object, at most. */
  readonly roots: number;
  readonly fields: number;
  /** Fields such as `Feature.label` that are left out. */
  readonly without: ReadonlySet<string>;
}
const USUAL: QueryForm = { deepest: 3, roots: 2, fields: 3, without: new Set() };

/** Queries over these subjects. */
export function queriesOver(subjects: Subjects, form = USUAL): fc.Arbitrary<string> {
  const choices = listChoices(subjects);

  function drawField(choice: FieldChoice, depth: number): fc.Arbitrary<(key: string) => string> {
    const below = choice.type === undefined ? fc.constant('') : selection(choice.type, depth + 1);
    return fc
      .tuple(choice.args ?? fc.constant(''), below, fc.boolean())
      .map(([args, fields, isAliased]) => (key: string) => {
        const isFragment = choice.name.startsWith('...');
        const mayBePlain = choice.type === undefined && choice.name !== 'values';
        const isPlain = isFragment || (args === '' && !isAliased && mayBePlain);
        const name = isPlain ? choice.name : `${key}: ${choice.name}`;
        return `${name}${args === '' ? '' : `(${args})`}${fields}`;
      });
  }

  function selection(type: string, depth: number): fc.Arbitrary<string> {
    const all = (choices[type] ?? []).filter(({ name }) => !form.without.has(`${type}.${name}`));
    const fields = depth < form.deepest ? all : all.filter((choice) => choice.type === undefined);
    const usable = fields.length > 0 ? fields : leaves('__typename');
    const one = fc.constantFrom(...usable).chain((choice) => drawField(choice, depth));
    const some =
      type === 'Node'
        ? // One fragment for each type: two of one type would have keys in common.
          fc
            .subarray(usable, { minLength: 1 })
            .chain((chosen) => fc.tuple(...chosen.map((c) => drawField(c, depth))))
        : fc.array(one, { minLength: 1, maxLength: depth === 0 ? form.roots : form.fields });
    return fc.tuple(some, fc.nat(8)).map(([made, cut]) => {
      // Keys tell their depth, so that fragments of one type merge without conflict.
      const texts = made.map((make, i) => make(`${type.slice(0, 2).toLowerCase()}${i}`));
      if (cut === 0 || cut >= texts.length || type === 'Query' || type === 'Node')
        return ` { ${texts.join(' ')} }`;
      return ` { ${texts.slice(0, cut).join(' ')} ... on ${type} { ${texts.slice(cut).join(' ')} } }`;
    });
  }

  return selection('Query', 0);
}
