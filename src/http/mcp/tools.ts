// The tools: the description of each for a model, and the document that it runs.
import type { CallToolResult, McpServer, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { type GraphQLSchema, Kind, parse } from 'graphql';
import * as z from 'zod';
import { readRows, tableHeader, tableLine } from '../../lookups/protein-columns.ts';
import { type Fields, isFields } from '../../upstream/json/is-fields.ts';
import { DOCUMENTS, LOOKUP_COLUMNS } from './documents.ts';
import { outputSchema } from './output-schema.ts';
import {
  type GraphqlAnswer,
  type ResultOptions,
  ToolError,
  toFailure,
  toJsonText,
  toResult,
  toSentences,
} from './tool-result.ts';

/** Runs a document as a POST to /graphql does. */
export type RunDocument = (query: string, variables: Fields) => Promise<GraphqlAnswer>;

/** Adds a tool to a server. @param run - runs documents for the caller of this server */
export type AddTool = (server: McpServer, run: RunDocument) => void;

interface Tool extends ResultOptions {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Makes the variables of the document from the arguments. */
  readonly input: StandardSchemaWithJSON<unknown, Fields>;
  readonly document: string;
  /** The message where there is nothing. */
  readonly absent: string;
  /** Completes the variables by another document. */
  readonly complete?: (variables: Fields, run: RunDocument) => Promise<Fields>;
}

const NULLS =
  'null means that the service was asked and has none. What could not be loaded is null as well, and `problems` says why.';
const READS = { readOnlyHint: true, openWorldHint: true } as const;

const id = z
  .string()
  .min(1)
  .describe('Hash, UniProt accession or entry name, or sequence, such as "P01308", "INS_HUMAN"');
const first = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe(`At most this many, 1 to ${most}`);
const after = z.string().optional().describe('`endCursor` of the page before');

/** Answers failures that a model can do something about as the result of its call. */
async function guard(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ToolError) return toFailure(error.message);
    throw error;
  }
}

/** A problem as a sentence with its hint, and a line for each issue. */
function problemText({ message, hint, retryAfterSeconds, issues }: Fields): string {
  const wait = typeof retryAfterSeconds === 'number' ? `Try again in ${retryAfterSeconds} s.` : null;
  const lines = [[message, hint, wait].filter((text) => typeof text === 'string').join(' ')];
  for (const issue of Array.isArray(issues) ? issues : [])
    lines.push([issue.path, ': ', issue.message, ' ', issue.hint ?? ''].join('').trim());
  return lines.join('\n');
}

/** The answer of a document's root field, or the only entry of a list. @throws ToolError */
function readRoot(answer: GraphqlAnswer, absent: string): Fields {
  const [root] = Object.values(answer.data ?? {});
  const [found]: unknown[] = Array.isArray(root) ? root : [root];
  if (isFields(found) && isFields(found.problem)) throw new ToolError(problemText(found.problem));
  if (isFields(found) && found.protein !== null) return found;
  throw new ToolError(toSentences(answer).join('\n') || absent);
}

/** A tool that reads the root field of one document. */
function createReadTool(tool: Tool, schema: GraphQLSchema): AddTool {
  const { name, title, input, document, complete, absent } = tool;
  const config = {
    title,
    description: `${tool.description} ${NULLS}`,
    inputSchema: input,
    outputSchema: outputSchema(schema, document),
    annotations: READS,
  };
  return (server, run) =>
    server.registerTool(name, config, (given) =>
      guard(async () => {
        const variables = complete === undefined ? given : await complete(given, run);
        const answer = await run(document, variables);
        return toResult(readRoot(answer, absent), toSentences(answer), tool);
      }),
    );
}

const lookupTool: AddTool = (server, run) =>
  server.registerTool(
    'lookup_proteins',
    {
      title: 'Look up proteins',
      description:
        'Up to 50 proteins of the Atlas as a table, one row for each identifier, in your order. `status` says whether ' +
        'the Atlas has it, `problem` why not. `cluster_percent_characterized` near 0 is a dark cluster; pTM is 0 to 1, ' +
        `pLDDT 0 to 100. ${NULLS}`,
      inputSchema: z.strictObject({ ids: z.array(id).min(1).max(50) }),
      outputSchema: z.object({
        columns: z.array(z.string()),
        rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
        problems: z.array(z.string()).optional(),
        more: z.string().optional(),
      }),
      annotations: READS,
    },
    ({ ids }) =>
      guard(async () => {
        const answer = await run(DOCUMENTS.lookup, { ids });
        if (answer.data?.lookup == null) throw new ToolError(toSentences(answer).join('\n'));
        const lines = readRows(ids, answer);
        const rows = lines.map((line) => LOOKUP_COLUMNS.map((column) => column.read(line)));
        const columns = LOOKUP_COLUMNS.map(({ name }) => name);
        return toResult({ columns, rows }, [], {
          list: 'rows',
          askMore: 'Look up the other identifiers in another call.',
          toText: (shown) =>
            tableHeader(LOOKUP_COLUMNS) +
            lines
              .slice(0, Array.isArray(shown.rows) ? shown.rows.length : 0)
              .map((line) => tableLine(LOOKUP_COLUMNS, line))
              .join('') +
            (typeof shown.more === 'string' ? shown.more : ''),
        });
      }),
  );

const polymer = z
  .strictObject({
    sequence: z.string().describe('One-letter codes'),
    ids: z.array(z.string()).optional().describe('One chain id for each copy, such as ["A", "B"]'),
    modifications: z
      .array(z.strictObject({ position: z.int().describe('0-based'), ccd: z.string() }))
      .optional(),
  })
  .optional();
const ligand = z.strictObject({
  smiles: z.string().optional(),
  ccd: z.array(z.string()).optional().describe('Codes of the Chemical Component Dictionary'),
  ids: z.array(z.string()).optional(),
});
const chain = z.strictObject({ protein: polymer, dna: polymer, rna: polymer, ligand: ligand.optional() });
const fold = {
  items: z
    .array(
      z.strictObject({
        name: z.string().optional(),
        chains: z.array(chain).min(1).describe('Each has exactly one of protein, dna, rna, ligand'),
        includePae: z.boolean().optional().describe('Needed for ipSAE, LIS and errors between chains'),
        includePairChainsIptm: z.boolean().optional().describe('Needed for ipTM of each pair of chains'),
      }),
    )
    .min(1)
    .describe('The complexes'),
  repeat: z.int().min(1).optional().describe('How many times each item is folded; each is a task that costs'),
  model: z.string().optional(),
};

const TOOLS: readonly Tool[] = [
  {
    name: 'get_protein',
    title: 'Get a protein',
    description:
      'One protein of the Atlas: names, scores, confidence bands, its cluster, its ten strongest features, its UniProt ' +
      'entry, links to structure and picture.',
    input: z
      .strictObject({ id, includeSequence: z.boolean().default(false) })
      .transform(({ id, includeSequence }) => ({ ids: [id], sequence: includeSequence })),
    document: DOCUMENTS.protein,
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
    input: z.strictObject({
      hash: z.string().describe('Hash of any member: 32 hexadecimal characters; lookup_proteins finds it'),
      first: first(100, 20),
      after,
    }),
    document: DOCUMENTS.cluster,
    absent: 'There is no cluster with a protein of this hash. Find hashes with lookup_proteins.',
    list: 'members.nodes',
    askMore: 'Ask with a smaller `first`, then go on with `after`.',
  },
  {
    name: 'search_features',
    title: 'Search features',
    description:
      'Features of the sparse autoencoder, 16,384 patterns that are active in proteins: by words of label and ' +
      'description, or by index. `graphql` has more of one: { feature(index: 17) { category topProteins { accession } } }.',
    input: z.strictObject({
      search: z.string().optional().describe('Words, all of which must match, such as "hydrophobic core"'),
      indices: z.array(z.int()).max(50).optional().describe('Only these features, 0 to 16383'),
      first: first(50, 10),
      after,
    }),
    document: DOCUMENTS.features,
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
        sequence: z.string().optional().describe('In place of `id`: at most 2048 residues, known or not'),
        first: first(50, 10),
        minSimilarity: z.number().min(0).max(1).optional().describe('Cosine similarity, such as 0.5'),
        maxPercentCharacterized: z.int().min(0).max(100).optional(),
      })
      .refine((given) => (given.id === undefined) !== (given.sequence === undefined), {
        error: 'Give either `id` or `sequence`.',
      }),
    document: DOCUMENTS.similar,
    absent: 'The search found nothing.',
    list: 'hits',
    askMore: 'Narrow the search by `minSimilarity` or `maxPercentCharacterized`.',
    async complete({ id, ...variables }, run) {
      if (id === undefined) return variables;
      const answer = await run(DOCUMENTS.sequence, { ids: [id] });
      const { protein } = readRoot(answer, 'There is no such protein.');
      const { sequence } = Object(protein);
      if (typeof sequence === 'string') return { ...variables, sequence };
      throw new ToolError(toSentences(answer).join('\n') || 'Its sequence is not known: give `sequence`.');
    },
  },
  {
    name: 'check_fold',
    title: 'Check a fold',
    description:
      'A dry run of submit_fold: reports every mistake and `taskCount`, the number of tasks that a submission costs. ' +
      'Nothing is sent or spent. Bonds, pockets and distograms: use the tool `graphql`.',
    input: z.strictObject(fold).transform((input) => ({ input })),
    document: DOCUMENTS.check,
    absent: 'The check gave no answer.',
    list: 'issues',
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
        batchId: z.string(),
        orderBy: z.enum(['INDEX', 'NAME', 'IPSAE', 'IPTM', 'PTM', 'PLDDT']).default('INDEX'),
        statuses: z
          .array(z.enum(['QUEUED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELLED', 'EXPIRED']))
          .optional(),
        first: first(100, 20),
        after,
      })
      .transform((given) => ({ ...given, scores: !['INDEX', 'NAME'].includes(given.orderBy) })),
    document: DOCUMENTS.batch,
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
        taskId: z.string().describe('A `taskId` of batch_status'),
        signedLinks: z
          .boolean()
          .default(false)
          .describe('Also give links that open for 15 minutes without a key'),
      })
      .transform(({ taskId, signedLinks }) => ({ taskId, signed: signedLinks })),
    document: DOCUMENTS.result,
    absent: 'There is no such task for this key. batch_status lists the tasks of a batch.',
    list: 'result.chainPairs',
    askMore: 'The file at `resultUrl` has all pairs.',
  },
];

/** Shown to a model that may not submit. */
export const MUTATIONS_OFF =
  'Submitting and cancelling are off for agents here; the operator turns them on with MCP_MUTATIONS=1.';

function createSubmitTool(schema: GraphQLSchema): AddTool {
  const output = outputSchema(schema, DOCUMENTS.submit);
  return (server, run) =>
    server.registerTool(
      'submit_fold',
      {
        title: 'Submit a fold',
        description:
          'Checks the input as check_fold does, then queues it: every task costs, items times repeats, and `taskCount` says ' +
          'how many. The same idempotencyKey with the same input is paid once, for 31 days: after a timeout call again ' +
          `with the same key. Then follow \`batchId\` with batch_status. ${NULLS}`,
        inputSchema: z.strictObject({
          ...fold,
          label: z.string().optional().describe('Your name for the batch'),
          idempotencyKey: z.string().min(1).describe('Made from the input, such as "insulin-variant-A8T"'),
        }),
        outputSchema: output,
        annotations: {
          readOnlyHint: false,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: true,
        },
      },
      ({ label, idempotencyKey, ...input }) =>
        guard(async () => {
          const check = readRoot(await run(DOCUMENTS.check, { input }), 'The check gave no answer.');
          if (check.ok !== true)
            throw new ToolError(
              problemText({ message: 'The input has mistakes; nothing was sent.', ...check }),
            );
          const answer = await run(DOCUMENTS.submit, { input: { ...input, label, idempotencyKey } });
          const found = readRoot(answer, 'The submission gave no answer. Call again with the same key.');
          if (!isFields(found.batch)) throw new ToolError(problemText(found));
          return toResult({ taskCount: check.taskCount, ...found }, toSentences(answer), {
            list: 'warnings',
            askMore: 'check_fold lists all warnings.',
          });
        }),
    );
}

/** Why a document may not run; null when it may. The gateway answers one that cannot be parsed. */
function refuseOperation(query: string, mutations: boolean): string | null {
  let kinds: string[];
  try {
    kinds = parse(query, { maxTokens: 5_000 }).definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION ? [node.operation] : [],
    );
  } catch (error) {
    return `The document cannot be parsed: ${String(Object(error).message)}`;
  }
  if (kinds.includes('subscription'))
    return 'Subscriptions do not run here. Follow a batch with batch_status.';
  return kinds.includes('mutation') && !mutations ? MUTATIONS_OFF : null;
}

const createGraphqlTool =
  (mutations: boolean): AddTool =>
  (server, run) =>
    server.registerTool(
      'graphql',
      {
        title: 'Run GraphQL',
        description:
          `Any ${mutations ? 'query or mutation' : 'query'} of the GraphQL API, for what the other tools lack. The schema is in the ` +
          'resources foldatlas://schema and foldatlas://schema/{type}, and `{ __type(name: "Query") { fields { name } } }` asks ' +
          'for it. null means that there is none; what could not be loaded is null with an entry in `errors`. ' +
          'The gateway refuses what costs too much; answers are cut at 20 kB.',
        inputSchema: z.strictObject({
          query: z.string().describe('One operation'),
          variables: z.record(z.string(), z.unknown()).default({}),
        }),
        annotations: mutations
          ? { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
          : READS,
      },
      ({ query, variables }) =>
        guard(async () => {
          const refusal = refuseOperation(query, mutations);
          if (refusal !== null) throw new ToolError(refusal);
          return toJsonText(await run(query, variables));
        }),
    );

/** All tools. @param mutations - whether to add those that submit */
export const createTools = (schema: GraphQLSchema, mutations: boolean): AddTool[] => [
  lookupTool,
  ...TOOLS.map((tool) => createReadTool(tool, schema)),
  ...(mutations ? [createSubmitTool(schema)] : []),
  createGraphqlTool(mutations),
];
