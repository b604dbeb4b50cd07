// The tools as a table: the description of each for a model, its arguments, and the GraphQL
// document that it runs. `npm run operations` lists the documents, so that the tools also work
// where a gateway runs listed operations only.
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { columnsNamed, lookupQuery, readRows } from '../../lookups/protein-columns.ts';
import { MAX_ITEMS } from '../../submission/check.ts';
import { MAX_SEQUENCE } from '../../submission/check-size.ts';
import { boundedList } from '../../upstream/json/bounded-schemas.ts';
import { type Fields, isFields } from '../../upstream/json/is-fields.ts';
import { type GraphqlAnswer, type ResultOptions, ToolError, toSentences } from './tool-result.ts';

/** Runs a document as a POST to /graphql does. */
export type RunDocument = (query: string, variables: Fields) => Promise<GraphqlAnswer>;

/** A tool that runs one document, and shows its root field or the only entry of that. */
export interface Tool extends ResultOptions {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Checks the arguments, and makes the variables of the document. */
  readonly input: StandardSchemaWithJSON<unknown, Fields>;
  readonly document: string;
  /** The message where there is nothing. */
  readonly absent: string;
  /** Makes the variables from what `input` gives, by a document of its own. */
  readonly prepare?: (given: Fields, run: RunDocument) => Promise<Fields>;
  /** In place of the root field. */
  readonly readTable?: (answer: GraphqlAnswer, variables: Fields) => Fields;
  /** Whether it costs: such a tool is there only with MCP_MUTATIONS. */
  readonly isMutation?: boolean;
}

/** A text of few words. The checks of a fold have narrower limits, and say more about them. */
const text = z.string().max(10_000);
const residues = z.string().max(MAX_SEQUENCE);

const id = residues
  .min(1)
  .describe('Hash, UniProt accession or entry name, or sequence, such as "P01308", "INS_HUMAN"');
const first = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe(`At most this many, 1 to ${most}`);
const after = text.optional().describe('`endCursor` of the page before');

/** Chains of a complex, and copies of a chain: far more than are folded at once. */
const MAX_COPIES = 1000;
const MAX_MODIFICATIONS = 5000;

const polymer = z
  .strictObject({
    sequence: residues.describe('One-letter codes'),
    ids: boundedList(text, MAX_COPIES).optional().describe('One chain id for each copy, such as ["A", "B"]'),
    modifications: boundedList(
      z.strictObject({ position: z.int().describe('0-based'), ccd: text }),
      MAX_MODIFICATIONS,
    ).optional(),
  })
  .optional();
const ligand = z.strictObject({
  smiles: text.optional(),
  ccd: boundedList(text, MAX_COPIES).optional().describe('Codes of the Chemical Component Dictionary'),
  ids: boundedList(text, MAX_COPIES).optional(),
});
const chain = z.strictObject({ protein: polymer, dna: polymer, rna: polymer, ligand: ligand.optional() });
const fold = {
  items: boundedList(
    z.strictObject({
      name: text.optional(),
      chains: boundedList(chain, MAX_COPIES, 1).describe('Each has exactly one of protein, dna, rna, ligand'),
      includePae: z.boolean().optional().describe('Needed for ipSAE, LIS and errors between chains'),
      includePairChainsIptm: z.boolean().optional().describe('Needed for ipTM of each pair of chains'),
    }),
    MAX_ITEMS,
    1,
  ).describe('The complexes'),
  repeat: z.int().min(1).optional().describe('How many times each item is folded; each is a task that costs'),
  model: text.optional(),
};

/** A problem as a sentence with its hint, and a line for each mistake of an input. */
function problemText({ message, hint, retryAfterSeconds, issues }: Fields): string {
  const wait = typeof retryAfterSeconds === 'number' ? `Try again in ${retryAfterSeconds} s.` : null;
  const notSent = Array.isArray(issues) ? 'Nothing was sent.' : null;
  const lines = [[message, notSent, hint, wait].filter((text) => typeof text === 'string').join(' ')];
  for (const issue of Array.isArray(issues) ? issues : [])
    lines.push([issue.path, ': ', issue.message, ' ', issue.hint ?? ''].join('').trim());
  return lines.join('\n');
}

/**
 * The root field of an answer, or the only entry of its list.
 *
 * @throws ToolError where there is nothing, or a Problem: only these have a `message`
 */
function readRoot(answer: GraphqlAnswer, absent: string): Fields {
  const [root] = Object.values(answer.data ?? {});
  const [found]: unknown[] = Array.isArray(root) ? root : [root];
  if (!isFields(found) || found.protein === null) {
    const { problem } = Object(found);
    const text = isFields(problem) ? problemText(problem) : toSentences(answer).join('\n') || absent;
    // A list of one is the tool's single `id`.
    throw new ToolError(text.replaceAll('`ids[0]`', '`id`'));
  }
  if ('message' in found) throw new ToolError(problemText(found));
  return found;
}

/** Runs the document of a tool. @throws ToolError for an answer without the wanted */
export async function loadContent(
  { document, absent, prepare, readTable }: Tool,
  given: Fields,
  run: RunDocument,
): Promise<{ readonly content: Fields; readonly problems: readonly string[] }> {
  const variables = (await prepare?.(given, run)) ?? given;
  const answer = await run(document, variables);
  if (readTable !== undefined) return { content: readTable(answer, variables), problems: [] };
  return { content: readRoot(answer, absent), problems: toSentences(answer) };
}

const LOOKUP_COLUMNS = columnsNamed([
  ...['requested', 'status', 'hash', 'accession', 'name', 'organism', 'length', 'ptm', 'mean_plddt'],
  ...['cluster_representative', 'cluster_percent_characterized', 'problem'],
]);

const SEQUENCE = `query McpSequenceById($ids: [String!]!) {
  lookup(ids: $ids) { status problem { message hint } protein { sequence } }
}`;
const HASH = `query McpHashById($ids: [String!]!) {
  lookup(ids: $ids) { status problem { message hint } protein { hash } }
}`;

/**
 * A field of the protein with an identifier.
 *
 * @throws ToolError where there is no such protein, or its field cannot be read
 */
async function findField(run: RunDocument, document: string, id: unknown, field: string): Promise<string> {
  const answer = await run(document, { ids: [id] });
  const { protein } = readRoot(answer, 'There is no such protein.');
  const { [field]: found } = Object(protein);
  if (typeof found === 'string') return found;
  throw new ToolError(toSentences(answer).join('\n') || `Its ${field} is not known: give \`${field}\`.`);
}

const PROTEIN_HASH = /^[0-9a-f]{32}$/i;
const CLUSTER = 'representativeHash name size percentCharacterized';

/** All tools but `graphql`. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'lookup_proteins',
    title: 'Look up proteins',
    description:
      'Up to 50 proteins of the Atlas as a table, one row for each identifier, in your order. `status` says whether ' +
      'the Atlas has it, `problem` why not. `cluster_percent_characterized` near 0 is a dark cluster; pTM is 0 to 1, ' +
      'pLDDT 0 to 100.',
    input: z.strictObject({ ids: boundedList(id, 50, 1) }),
    document: lookupQuery(LOOKUP_COLUMNS),
    absent: 'Nothing was looked up.',
    list: 'rows',
    askMore: 'Look up the other identifiers in another call.',
    readTable(answer, { ids }) {
      if (answer.data?.lookup == null || !Array.isArray(ids))
        throw new ToolError(toSentences(answer).join('\n'));
      const rows = readRows(ids, answer).map((row) => LOOKUP_COLUMNS.map((column) => column.read(row)));
      return { columns: LOOKUP_COLUMNS.map(({ name }) => name), rows };
    },
  },
  {
    name: 'get_protein',
    title: 'Get a protein',
    description:
      'One protein of the Atlas: names, scores, confidence bands, its cluster, its ten strongest features, its UniProt ' +
      'entry, links to structure and picture.',
    input: z
      .strictObject({ id, includeSequence: z.boolean().default(false) })
      .transform(({ id, includeSequence }) => ({ ids: [id], sequence: includeSequence })),
    document: `query McpProtein($ids: [String!]!, $sequence: Boolean!) {
  lookup(ids: $ids) {
    requested
    status
    problem { message hint }
    protein {
      hash accession source name organism gene length ptm foldedOnDemand isClusterRepresentative
      sequence @include(if: $sequence)
      plddt { mean bands { band percent } }
      cluster { ${CLUSTER} }
      features(first: 10) { value feature { index label } }
      structure { url }
      thumbnail { url }
      uniprotEntry { accession entryName function }
    }
  }
}`,
    absent: 'There is no such protein.',
    list: 'protein.features',
    askMore: 'Ask for single fields with the tool `graphql`.',
  },
  {
    name: 'get_cluster',
    title: 'Get a cluster',
    description:
      'The cluster of a protein: its size, how well it is characterised (0 % is a dark cluster), taxonomy, Pfam domains, ' +
      'and a page of its members.',
    input: z.strictObject({ id, first: first(100, 20), after }),
    document: `query McpCluster($hash: ProteinHash!, $first: Int!, $after: String) {
  cluster(hash: $hash) {
    ${CLUSTER} percentDomainCoverage
    taxonomy { name rank }
    phyla(first: 5) { name count }
    pfamDomains(first: 10) { id name count }
    members(first: $first, after: $after) {
      totalCount
      nodes { hash accession name organism length ptm }
      pageInfo { hasNextPage endCursor }
    }
  }
}`,
    absent: 'There is no cluster with this protein. lookup_proteins says which proteins the Atlas has.',
    list: 'members.nodes',
    askMore: 'Ask with a smaller `first`, then go on with `after`.',
    prepare: async ({ id, ...variables }, run) => ({
      ...variables,
      hash: PROTEIN_HASH.test(String(id)) ? id : await findField(run, HASH, id, 'hash'),
    }),
  },
  {
    name: 'search_features',
    title: 'Search features',
    description:
      'Features of the sparse autoencoder, 16,384 patterns that are active in proteins: by words of label and ' +
      'description, or by index. `graphql` has more of one: { feature(index: 17) { category topProteins { accession } } }.',
    input: z.strictObject({
      search: text
        .regex(/\S/, 'it is empty: give words, or leave it out for all features by their index')
        .optional()
        .describe('Words, all of which must match, such as "hydrophobic core"'),
      indices: boundedList(z.int(), 50).optional().describe('Only these features, 0 to 16383'),
      first: first(50, 10),
      after,
    }),
    document: `query McpFeatures($search: String, $indices: [Int!], $first: Int!, $after: String) {
  features(search: $search, indices: $indices, first: $first, after: $after) {
    totalCount
    nodes { index label description }
    pageInfo { hasNextPage endCursor }
  }
}`,
    absent: 'There are no features.',
    list: 'nodes',
    askMore: 'Ask with a smaller `first`, then go on with `after`.',
  },
  {
    name: 'similar_proteins',
    title: 'Find similar proteins',
    description:
      'Proteins of the Atlas with features like those of a protein, most similar first, each with its cluster. ' +
      '`maxPercentCharacterized: 0` finds dark clusters: groups without any characterised domain.',
    input: z
      .strictObject({
        id: id.optional(),
        sequence: residues.optional().describe('In place of `id`: at most 2048 residues, known or not'),
        first: first(50, 10),
        minSimilarity: z.number().min(0).max(1).optional().describe('Cosine similarity, such as 0.5'),
        maxPercentCharacterized: z.int().min(0).max(100).optional(),
      })
      .refine((given) => (given.id === undefined) !== (given.sequence === undefined), {
        error: 'Give either `id` or `sequence`.',
      }),
    document: `query McpSimilar($sequence: AminoAcidSequence!, $first: Int!, $minSimilarity: Float, $maxPercentCharacterized: Int) {
  similarProteins(
    sequence: $sequence, first: $first, minSimilarity: $minSimilarity
    maxPercentCharacterized: $maxPercentCharacterized
  ) {
    queryHash restrictedCount warnings
    hits {
      score
      protein { hash accession length ptm }
      cluster { ${CLUSTER} }
    }
    sharedFeatures(first: 5) { occurrences meanActivation feature { index label } }
  }
}`,
    absent: 'The search found nothing.',
    list: 'hits',
    askMore: 'Narrow the search by `minSimilarity` or `maxPercentCharacterized`.',
    prepare: async ({ id, ...variables }, run) =>
      id === undefined
        ? variables
        : { ...variables, sequence: await findField(run, SEQUENCE, id, 'sequence') },
  },
  {
    name: 'check_fold',
    title: 'Check a fold',
    description:
      'A dry run of submit_fold: reports every mistake and `taskCount`, the number of tasks that a submission costs. ' +
      'Nothing is sent or spent. Bonds, pockets and distograms: use the tool `graphql`.',
    input: z.strictObject(fold).transform((input) => ({ input })),
    document: `query McpCheck($input: SubmitFoldInput!) {
  checkFold(input: $input) {
    ok taskCount totalLength
    issues { path code message hint }
    warnings { path code message hint }
  }
}`,
    absent: 'The check gave no answer.',
    list: ['issues', 'warnings'],
    askMore: 'Mend these and check again.',
  },
  {
    name: 'batch_status',
    title: 'Follow a batch',
    description:
      'Counts and tasks of a batch. With `orderBy` IPSAE or IPTM (complexes), PTM or PLDDT the best come first, ' +
      'with their scores. ' +
      'Folding takes minutes: ask again every 30 s or less often.',
    input: z
      .strictObject({
        batchId: text,
        orderBy: z.enum(['INDEX', 'NAME', 'IPSAE', 'IPTM', 'PTM', 'PLDDT']).default('INDEX'),
        statuses: boundedList(
          z.enum(['QUEUED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELLED', 'EXPIRED']),
          20,
        ).optional(),
        first: first(100, 20),
        after,
      })
      .transform((given) => ({ ...given, scores: !['INDEX', 'NAME'].includes(given.orderBy) })),
    document: `query McpBatch(
  $batchId: ID!, $orderBy: TaskOrder!, $statuses: [TaskStatus!], $first: Int!, $after: String, $scores: Boolean!
) {
  batch(batchId: $batchId) {
    batchId label status submittedAt queueDeadline resultsExpireAt warnings scoresUrl resultsUrl
    counts { total queued inProgress done failed cancelled percentSettled }
    tasks(orderBy: $orderBy, statuses: $statuses, first: $first, after: $after) {
      totalCount
      unscoredCount @include(if: $scores)
      nodes {
        taskId name index status
        error { message }
        scores @include(if: $scores) { ipsae iptm ptm meanPlddt }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`,
    absent:
      'There is no such batch for this key. `graphql` with { myBatches { nodes { batchId } } } lists yours.',
    list: 'tasks.nodes',
    askMore: 'Ask with a smaller `first`, then go on with `after`.',
  },
  {
    name: 'fold_result',
    title: 'Read a fold',
    description:
      'Scores of a finished task, of its chains and of each pair of chains (ipSAE, pDockQ, LIS, ipTM, errors), and links ' +
      'to its files. ipSAE, ipTM and pTM are 0 to 1, pLDDT 0 to 100, errors in ångström. `result` is null unless `status` ' +
      'is DONE; ipTM of a single chain is null, and so are ipSAE, LIS and errors without includePae. Matrices are in the ' +
      'files only.',
    input: z
      .strictObject({
        taskId: text.describe('A `taskId` of batch_status'),
        signedLinks: z
          .boolean()
          .default(false)
          .describe('Also give links that open for 15 minutes without a key'),
      })
      .transform(({ taskId, signedLinks }) => ({ taskId, signed: signedLinks })),
    document: `query McpResult($taskId: ID!, $signed: Boolean!) {
  task(taskId: $taskId) {
    taskId name status resultsExpireAt
    error { message }
    batch { batchId }
    result {
      model iptm ptm warnings
      plddt { mean bands { band percent } }
      chains { id kind meanPlddt proteinHash }
      chainPairs { a b ipsae ipsaeMax pDockQ pDockQ2 lis iptm meanPae minPae }
      resultUrl
      signedUrl @include(if: $signed)
      structure { url signedUrl @include(if: $signed) }
    }
  }
}`,
    absent: 'There is no such task for this key. batch_status lists the tasks of a batch.',
    list: 'result.chainPairs',
    askMore: 'The file at `resultUrl` has all pairs.',
  },
  {
    name: 'submit_fold',
    title: 'Submit a fold',
    description:
      'Checks the input as check_fold does, then queues it: every task costs, items times repeats, and `total` says ' +
      'how many. The same idempotencyKey with the same input is paid once, for 31 days: after a timeout call again ' +
      'with the same key. Then follow `batchId` with batch_status.',
    input: z
      .strictObject({
        ...fold,
        label: text.optional().describe('Your name for the batch'),
        idempotencyKey: text.min(1).describe('Made from the input, such as "insulin-variant-A8T"'),
      })
      .transform((input) => ({ input })),
    document: `mutation McpSubmit($input: SubmitFoldInput!) {
  submitFold(input: $input) {
    ... on FoldSubmitted {
      replayed
      batch { batchId queueDeadline resultsExpireAt counts { total } }
      warnings { path code message hint }
    }
    ... on Problem { message hint }
    ... on InvalidInput { issues { path code message hint } }
    ... on Refused { retryAfterSeconds }
  }
}`,
    absent: 'The submission gave no answer. Call again with the same key.',
    list: 'warnings',
    askMore: 'check_fold lists all warnings.',
    isMutation: true,
  },
];

/** The documents of all tools. */
export const DOCUMENTS: readonly string[] = [...TOOLS.map(({ document }) => document), SEQUENCE, HASH];
