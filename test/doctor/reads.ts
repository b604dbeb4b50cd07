// The query that reads each place of GraphQL that the doctor names, so that what it says can be held against the answer.

/** A protein that is folded and clustered; the doctor asks for it, too. */
const HASH = '12e9c9e4e2835c302e8ba615115edda3';
/** Another one, without which a list of hashes is one record. */
const OTHER = 'efebacde779fb9ede77f2039ec6cfe09';
const REPRESENTATIVE = '14e8baa4c9b4dd5994d644e59085ff28';
const SEQUENCE =
  'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN';

const FEATURES = 'features(top: 5) { value feature { index } regions { start end } residues }';

/** Fields of objects that are not complete without a selection. */
const SELECTED: Readonly<Record<string, string>> = {
  'Protein.cluster': 'cluster { representativeHash size percentCharacterized }',
  'Protein.features': FEATURES,
  'Protein.plddt': 'plddt { mean values }',
  'Protein.structure': 'structure { text }',
  'Protein.thumbnail': 'thumbnail { base64 }',
  'Cluster.features': 'features(top: 5) { value feature { index } regions { start end } }',
  'Cluster.members': 'members(first: 500) { totalCount nodes { hash } }',
  'Cluster.pfamDomains': 'pfamDomains { id name count }',
  'Cluster.phyla': 'phyla { name count }',
  'Cluster.taxonomy': 'taxonomy { rank name }',
  'Feature.nearestNeighbors': 'nearestNeighbors { index }',
  'Feature.topProteins': 'topProteins(database: UNIREF90, first: 100) { accession activation }',
  'Feature.uniref90': 'uniref90 { frequency idf maxActivation }',
  'UniprotEntry.protein': 'proteinHash protein { hash }',
  'SimilaritySearch.hits': 'hits { score protein { hash } }',
  'SimilaritySearch.queryProtein': 'queryProtein { hash }',
  'SimilaritySearch.sharedFeatures': 'sharedFeatures { occurrences feature { index } }',
  'Batch.tasks': 'tasks(first: 1) { totalCount nodes { taskId state } pageInfo { hasNextPage } }',
  'Batch.counts': 'counts { total done queued inProgress }',
  'Task.artifacts': 'artifacts { name }',
  'Task.error': 'error { message }',
  'Task.result': 'result { ptm }',
  'FoldResult.chains': 'chains { id tokenStart tokenEnd meanPlddt }',
  'FoldResult.chainPairs': 'chainPairs { a b value }',
  'FoldResult.embeddings': 'embeddings { sequenceShape pairShape }',
  'FoldResult.pae': 'pae { size max chainPairs { value } }',
  'FoldResult.plddt': 'plddt { mean values }',
  'FoldResult.structure': 'structure { text }',
};

/** What was folded before anything drifted. */
export interface Folded {
  readonly batchId: string;
  readonly taskId: string;
}

const QUERIES: Readonly<Record<string, (selection: string, folded: Folded) => string>> = {
  Protein: (selection) => `{ protein(hash: "${HASH}") { ${selection} } }`,
  Cluster: (selection) => `{ cluster(hash: "${REPRESENTATIVE}") { memberHashes ${selection} } }`,
  Feature: (selection) => `{ feature(index: 7) { ${selection} } }`,
  UniprotEntry: (selection) => `{ uniprotEntry(id: "P01308") { ${selection} } }`,
  SimilaritySearch: (selection) =>
    `{ similarProteins(sequence: "${SEQUENCE}", first: 2, minSimilarity: 0.2) { ${selection} } }`,
  Batch: (selection, { batchId }) => `{ batch(batchId: "${batchId}") { ${selection} } }`,
  Artifact: (selection, { taskId }) => `{ task(taskId: "${taskId}") { artifacts { ${selection} } } }`,
  Task: (selection, { taskId }) => `{ task(taskId: "${taskId}") { ${selection} } }`,
  FoldResult: (selection, { taskId }) => `{ task(taskId: "${taskId}") { result { ${selection} } } }`,
};

/** The query that reads a field. @param bulk - for two proteins at once */
export function readOf(field: string, folded: Folded, bulk = false): string {
  const [type = '', name = ''] = field.split('.');
  const selection = SELECTED[field] ?? name;
  const inBulk = type === 'Cluster' ? `cluster { ${selection} }` : selection;
  if (bulk) return `{ proteins(hashes: ["${HASH}", "${OTHER}"]) { ${inBulk} } }`;
  const query = QUERIES[type];
  if (query === undefined) throw new Error(`No query reads ${field}.`);
  return query(selection, folded);
}
