// /export.tsv and /export.ndjson: a line for each identifier of a list, in its order, 500 looked up
// at a time. A POST has the list as its body, a GET a short one in its address. The answer begins with the first 500; a failure after that cuts the
// connection.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DocumentNode, execute, type GraphQLSchema, parse } from 'graphql';
import type { Config } from '../../config.ts';
import type { GatewayContext } from '../../context.ts';
import {
  jsonLine,
  type LookupRow,
  lookupQuery,
  readRows,
  tableHeader,
  tableLine,
} from '../../lookups/protein-columns.ts';
import { estimateCost } from '../../schema/estimate-cost.ts';
import { BULK_HASHES } from '../../upstream/proteins/plan.ts';
import type { RateLimitResult } from '../access/rate-limit.ts';
import { httpError } from '../errors.ts';
import { getExchange } from '../exchange.ts';
import { costError } from '../graphql/plugins/cost-limit.ts';
import { isCrossSiteRequest } from '../graphql/read-request.ts';
import type { Parameter, RouteDescription } from './description.ts';
import { type ExportRequest, readExportRequest } from './export-request.ts';
import type { Fail, Route, RouteAnswer, RouteRequest } from './route.ts';

export interface ExportSources {
  readonly schema: GraphQLSchema;
  readonly config: Config;
  open(request: Request): Promise<GatewayContext>;
  /** Counts a request against the rate limit of its caller. */
  spend(request: Request): Promise<RateLimitResult | null>;
}

const TYPES = { tsv: 'text/tab-separated-values', ndjson: 'application/x-ndjson' } as const;

const COLUMNS: Parameter = {
  description: 'Columns, separated by commas; `requested`, `status` and `problem` are always there.',
  example: 'hash,name',
  schema: { type: 'string' },
};

const describeRead = (type: string): RouteDescription => ({
  summary: 'A line for each of up to 100 identifiers, in their order',
  type,
  query: {
    ids: { description: 'Identifiers, separated by commas.', example: 'P01308', schema: { type: 'string' } },
    columns: COLUMNS,
  },
  others: { 400: 'There are no identifiers, or more than 100.' },
});

const describeExport = (type: string): RouteDescription => ({
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

/**
 * Looks up some identifiers.
 *
 * @throws GraphQLError when they cost too much, or nothing is answered
 */
async function lookUp(
  schema: GraphQLSchema,
  document: DocumentNode,
  ids: readonly string[],
  contextValue: GatewayContext,
  fail: Fail,
): Promise<LookupRow[]> {
  const operation = { schema, document, variableValues: { ids } };
  const cost = estimateCost(operation);
  const refusal = cost && costError(cost, contextValue.services.config);
  if (refusal !== undefined) throw refusal;
  const { data, errors = [] } = await execute({ ...operation, contextValue });
  const shown = errors.map(fail);
  if (data?.lookup == null && shown[0] !== undefined) throw shown[0];
  return readRows(ids, { data, errors: shown });
}

/** Each further 500 identifiers count as a request of their own: the export waits for its turn. */
async function awaitTurn({ spend }: ExportSources, request: Request, signal: AbortSignal): Promise<void> {
  for (let spent = await spend(request); spent?.isAllowed === false; spent = await spend(request))
    await sleep(spent.resetSeconds * 1000, undefined, { signal });
}

const encoder = new TextEncoder();

/** The lines of an export, those of 500 identifiers at a time. */
async function* lines(
  sources: ExportSources,
  ctx: GatewayContext,
  { request, fail }: RouteRequest,
  { ids, columns }: ExportRequest,
  format: keyof typeof TYPES,
): AsyncGenerator<Uint8Array> {
  const document = parse(lookupQuery(columns));
  const toLine = format === 'tsv' ? tableLine : jsonLine;
  let before = format === 'tsv' ? tableHeader(columns) : '';
  for (let start = 0; start < ids.length; start += BULK_HASHES) {
    if (start > 0) await awaitTurn(sources, request, ctx.clientSignal);
    // Each 500 have loaders and a deadline of their own, so that written proteins are not held in
    // memory.
    const own = (await ctx.fresh())();
    const rows = await lookUp(sources.schema, document, ids.slice(start, start + BULK_HASHES), own, fail);
    yield encoder.encode(before + rows.map((row) => toLine(columns, row)).join(''));
    before = '';
  }
}

/** The first lines and the rest, with a log line for a client that gets no whole answer. */
async function* whole(
  ctx: GatewayContext,
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } catch (error) {
    if (!ctx.clientSignal.aborted)
      ctx.services.log.warn({ requestId: ctx.requestId, error: String(error) }, 'an export was cut off');
    throw error;
  }
}

async function answer(
  sources: ExportSources,
  asked: RouteRequest,
  format: keyof typeof TYPES,
): Promise<RouteAnswer> {
  const { request } = asked;
  if (isCrossSiteRequest(getExchange(request).headers, sources.config.CORS_ORIGINS))
    throw httpError(403, 'Only pages that CORS_ORIGINS lists may ask for exports.', { code: 'FORBIDDEN' });
  const ctx = await sources.open(request);
  const wanted = readExportRequest(asked);
  const body = lines(sources, ctx, asked, wanted, format);
  // A refusal of everything comes with the first lines, and has an HTTP status of its own.
  const first = await body.next();
  const day = new Date().toISOString().slice(0, 10);
  return {
    status: 200,
    headers: {
      'content-type': `${TYPES[format]}; charset=utf-8`,
      'content-disposition': `attachment; filename="foldatlas-proteins-${day}.${format}"`,
      'cache-control': 'private, no-store',
    },
    body: whole(ctx, first, body),
  };
}

/** An export of a list in the body, and one of some identifiers in the address, which spreadsheets can read. */
export function exportRoutes(sources: ExportSources): readonly Route[] {
  const shared = {
    path: /^\/export\.(tsv|ndjson)$/,
    answer: (asked: RouteRequest) => answer(sources, asked, asked.parts[0] === 'ndjson' ? 'ndjson' : 'tsv'),
  };
  const describeBoth = (describe: (type: string) => RouteDescription) => ({
    '/export.tsv': describe(TYPES.tsv),
    '/export.ndjson': describe(TYPES.ndjson),
  });
  return [
    {
      ...shared,
      takes: ({ method }) => method === 'GET' || method === 'HEAD',
      described: describeBoth(describeRead),
    },
    { ...shared, method: 'POST', described: describeBoth(describeExport) },
  ];
}
