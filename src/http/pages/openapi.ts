// GET /openapi.json: the plain HTTP routes as OpenAPI 3.1. Each line of the table is a file or an
// answer; a test fails for a route without one, and for an answer that is not as its line says.
import { VERSION } from '../../package.ts';
import type { Route } from '../routes/route.ts';

interface Parameter {
  readonly description: string;
  readonly example: string;
  readonly schema: object;
}

/** The parts of paths. */
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  hash: {
    description: 'MD5 of the sequence of a protein.',
    example: '12e9c9e4e2835c302e8ba615115edda3',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{32}$' },
  },
  type: {
    description: 'Colours of the picture.',
    example: 'plddt',
    schema: { enum: ['plddt', 'pct-characterized'] },
  },
  taskId: { description: 'Id of a task.', example: 'b1-00000', schema: { type: 'string' } },
  batchId: { description: 'Id of a batch.', example: 'b1', schema: { type: 'string' } },
  lookupId: {
    description: 'Id of a bulk look-up, which is all that its files need.',
    example: 'q3bWzB0uX1n2Yc8k5mTLd9Rs',
    schema: { type: 'string' },
  },
  part: {
    description: 'Number of a part, from 0.',
    example: '0',
    schema: { type: 'string', pattern: '^\\d{1,4}$' },
  },
  signature: {
    description: 'From `signedUrl`: opens one file for 15 minutes without a key.',
    example: 'signature',
    schema: { type: 'string' },
  },
};

interface RouteOperation {
  readonly summary: string;
  /** Media type of the answer. */
  readonly type: string;
  /**
   * Statuses besides 200, each with its reason; 206 and 503 have the type of the answer, 304 and
   * 416 no body.
   */
  readonly others?: Readonly<Record<number, string>>;
  /** Whether it is of one caller, who has to send a key. */
  readonly isPrivate?: boolean;
  readonly query?: Readonly<Record<string, Parameter>>;
  /** Media types of the body of a POST. */
  readonly body?: Readonly<Record<string, object>>;
}

const NOT_MODIFIED = { 304: 'The client has it: `If-None-Match`.' };
const RANGES = { 206: 'The range that was asked for.', 416: 'There is no such range.' };
const NO_RESULT = {
  404: 'There is no such task for this key, or no such file.',
  409: 'There is no result (yet).',
  410: 'The result has expired.',
};
const WRONG_PARAMETER = { 400: 'A wrong parameter.' };
const NO_LINK = { 403: 'The link has expired, or its signature is not valid.' };
const PROTEIN_FILE = { ...NOT_MODIFIED, 400: 'No hash, or a wrong parameter.', 404: 'There is none.' };

const PLDDT: Parameter = {
  description: 'Scale of the confidences: 0 to 100, 0 to 1, or as the service sends them.',
  example: 'percent',
  schema: { enum: ['percent', 'unit', 'upstream'], default: 'percent' },
};
const PAE: Parameter = {
  description: 'Adds the PAE of each pair of residues of polymers; such a file has no ranges.',
  example: '1',
  schema: { enum: ['1'] },
};
const COLUMNS: Parameter = {
  description: 'Columns, separated by commas; `requested`, `status` and `problem` are always there.',
  example: 'hash,name',
  schema: { type: 'string' },
};

const TASK_FILES: Readonly<Record<string, readonly [summary: string, type: string]>> = {
  'result.json': ['The result of a fold as the service sends it', 'application/json'],
  'structure.cif': ['The structure of a fold as mmCIF', 'chemical/x-mmcif'],
  'structure.pdb': ['The structure of a fold as PDB', 'chemical/x-pdb'],
  'confidences.json': ['Confidences of a fold as AlphaFold 3 writes them', 'application/json'],
  'summary_confidences.json': ['Scores of a fold as AlphaFold 3 writes them', 'application/json'],
  'pae.json': ['The PAE of a fold of one chain as AlphaFold DB has it', 'application/json'],
  'embeddings.npz': ['The embeddings of a fold as NumPy arrays', 'application/zip'],
};
/** Files that are sent while they are written have no ranges. */
const STREAMED_FILES = new Set(['confidences.json', 'pae.json']);
const STRUCTURES = { pdb: 'chemical/x-pdb', cif: 'chemical/x-mmcif' };

const exportOperation = (type: string): RouteOperation => ({
  summary: 'A line for each of up to 50,000 identifiers, in their order',
  type,
  query: { columns: COLUMNS },
  others: { 400: 'The list is empty or cannot be read.', 413: 'The list is too long.' },
  body: {
    'text/plain': { type: 'string', description: 'Identifiers, one on a line, or FASTA' },
    'application/json': {
      type: 'object',
      required: ['ids'],
      properties: {
        ids: { type: 'array', items: { type: 'string' } },
        columns: { type: 'array', items: { type: 'string' } },
      },
    },
  },
});

/** The operations by their paths. */
const OPERATIONS: Readonly<Record<string, RouteOperation>> = {
  ...Object.fromEntries(
    Object.entries(STRUCTURES).flatMap(([ending, type]) => {
      const operation = { summary: 'The predicted structure of a protein', type, query: { plddt: PLDDT } };
      return [
        [`/structures/{hash}.${ending}`, { ...operation, others: PROTEIN_FILE }],
        [`/signed/{signature}/structures/{hash}.${ending}`, { ...operation, others: NO_LINK }],
      ];
    }),
  ),
  '/thumbnails/{hash}/{type}.png': {
    summary: 'A picture of the structure of a protein',
    type: 'image/png',
    others: PROTEIN_FILE,
  },
  ...Object.fromEntries(
    Object.entries(TASK_FILES).flatMap(([file, [summary, type]]) => {
      const [query, wrong] = file === 'structure.cif' ? [{ pae: PAE }, WRONG_PARAMETER] : [{}, {}];
      const ranges = STREAMED_FILES.has(file) ? {} : RANGES;
      const others = { ...NOT_MODIFIED, ...ranges, ...wrong, ...NO_RESULT };
      return [
        [`/tasks/{taskId}/${file}`, { summary, type, query, isPrivate: true, others }],
        [
          `/signed/{signature}/tasks/{taskId}/${file}`,
          { summary, type, query, others: { ...wrong, ...NO_LINK } },
        ],
      ];
    }),
  ),
  '/batches/{batchId}/scores.tsv': {
    summary: 'All tasks of a batch with their scores, the best first',
    type: 'text/tab-separated-values',
    isPrivate: true,
    others: { 404: 'There is no such batch for this key.' },
  },
  '/batches/{batchId}/results.zip': {
    summary: 'Results and structures of all folded tasks of a batch, with a manifest',
    type: 'application/zip',
    isPrivate: true,
    others: {
      404: 'There is no such batch for this key.',
      409: 'No task has a result yet.',
      410: 'The results have expired.',
    },
  },
  '/bulk/{lookupId}/{part}.zip': {
    summary: 'The archive of a part of a bulk look-up',
    type: 'application/zip',
    others: {
      ...RANGES,
      404: 'There is no such look-up or part.',
      409: 'The part is not finished.',
      410: 'The service has it no more.',
    },
  },
  '/export.tsv': exportOperation('text/tab-separated-values'),
  '/export.ndjson': exportOperation('application/x-ndjson'),
  '/health': { summary: 'Whether the process runs', type: 'application/json' },
  '/ready': {
    summary: 'Whether the gateway can serve, and why not',
    type: 'application/json',
    others: { 503: 'It cannot serve, or is stopping.' },
  },
  '/metrics': { summary: 'Metrics for Prometheus', type: 'text/plain' },
  '/schema.graphql': { summary: 'The GraphQL schema', type: 'text/plain', others: NOT_MODIFIED },
  '/llms.txt': { summary: 'An overview for agents', type: 'text/plain' },
  '/openapi.json': { summary: 'This description', type: 'application/json' },
};

const REFUSAL = {
  'text/plain': { schema: { type: 'string', description: 'What is wrong, and what to do.' } },
};

function describeOperation(
  path: string,
  { summary, type, others = {}, isPrivate, query = {}, body }: RouteOperation,
) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const toParameter =
    (place: string) =>
    ([name, parameter]: [string, Parameter | undefined]) => ({
      ...{ name, in: place, required: place === 'path' },
      ...parameter,
    });
  const responses = Object.entries(others).map(([status, description]) => {
    const content = ['206', '503'].includes(status) ? { [type]: {} } : REFUSAL;
    return [status, { description, ...(['304', '416'].includes(status) ? {} : { content }) }];
  });
  return {
    summary,
    ...(isPrivate === true ? { security: [{ key: [] }] } : {}),
    parameters: [
      ...names.map((name) => toParameter('path')([name, PARAMETERS[name]])),
      ...Object.entries(query).map(toParameter('query')),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(Object.entries(body).map(([name, schema]) => [name, { schema }])),
      },
    }),
    responses: {
      200: { description: summary, content: { [type]: {} } },
      ...Object.fromEntries(responses),
      default: { description: 'A refusal of limits, or a failure, as one sentence.', content: REFUSAL },
    },
  };
}

/** A path as a client would send it. */
const toExample = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => PARAMETERS[name]?.example ?? name);

/** @param routes - of this gateway; only their paths are described */
export const openapiRoute = (routes: readonly Route[], publicUrl: string | undefined): Route => ({
  path: /^\/openapi\.json$/,
  answer({ url }) {
    const isServed = (path: string) => routes.some((route) => route.path.test(toExample(path)));
    const paths = Object.entries(OPERATIONS).flatMap(([path, operation]) =>
      isServed(path) || path === url.pathname
        ? [[path, { [operation.body === undefined ? 'get' : 'post']: describeOperation(path, operation) }]]
        : [],
    );
    const document = {
      openapi: '3.1.0',
      info: {
        title: 'FoldAtlas',
        version: VERSION,
        description: 'The plain HTTP routes. Everything else is GraphQL at /graphql and MCP at /mcp.',
      },
      servers: [{ url: publicUrl ?? url.origin }],
      paths: Object.fromEntries(paths),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    };
    return Response.json(document, { headers: { 'cache-control': 'no-cache' } });
  },
});
