// /export.tsv and /export.ndjson: a line for each identifier of a list, in its order, 500 looked up
// at a time. A POST has the list as its body, a GET a short one in its address. The answer begins
// with the first 500; a failure after that cuts the connection.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import {
  jsonLine,
  type LookupRow,
  lookupQuery,
  readRows,
  tableHeader,
  tableLine,
} from '../../lookups/protein-columns.ts';
import type { Logger } from '../../telemetry/log.ts';
import { BULK_HASHES } from '../../upstream/proteins/plan.ts';
import type { AccessControl } from '../access/access-control.ts';
import { type Exchange, type HttpResponse, identifyCaller, runPart } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import { isCrossSiteRequest } from '../graphql/read-request.ts';
import type { Operations } from '../graphql/run-operation.ts';
import type { Parameter, RouteDescription } from './description.ts';
import { type ExportRequest, readExportRequest } from './export-request.ts';
import type { Route, RouteRequest } from './route.ts';

export interface ExportSources {
  readonly config: Config;
  readonly log: Logger;
  readonly access: Pick<AccessControl, 'countAgain' | 'renew'>;
  readonly run: Operations['run'];
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
  { run }: ExportSources,
  exchange: Exchange,
  query: string,
  ids: readonly string[],
): Promise<LookupRow[]> {
  const { result } = await run(exchange, { query, variables: { ids } }, true);
  if (Symbol.asyncIterator in result) throw new Error('A look-up came in parts.');
  const { data, errors = [] } = result;
  if (data?.lookup == null && errors[0] !== undefined) throw errors[0];
  return readRows(ids, { data, errors });
}

/** Each further 500 identifiers count as a request of their own: the export waits for its turn. */
async function awaitTurn({ access }: ExportSources, exchange: Exchange): Promise<void> {
  const { signal } = exchange;
  for (;;) {
    const spent = await access.countAgain(exchange);
    if (spent?.isAllowed !== false) return;
    await sleep(spent.resetSeconds * 1000, undefined, { signal });
  }
}

const encoder = new TextEncoder();

/** The lines of an export, those of 500 identifiers at a time. */
async function* lines(
  sources: ExportSources,
  exchange: Exchange,
  { ids, columns }: ExportRequest,
  format: keyof typeof TYPES,
): AsyncGenerator<Uint8Array> {
  const query = lookupQuery(columns);
  const toLine = format === 'tsv' ? tableLine : jsonLine;
  let before = format === 'tsv' ? tableHeader(columns) : '';
  for (let start = 0; start < ids.length; start += BULK_HASHES) {
    if (start > 0) await awaitTurn(sources, exchange);
    // Each 500 have a context of their own, so that written proteins are not held in memory.
    const renewed = await sources.access.renew(exchange);
    const some = ids.slice(start, start + BULK_HASHES);
    const rows = await runPart(renewed, (part) => lookUp(sources, part, query, some));
    yield encoder.encode(before + rows.map((row) => toLine(columns, row)).join(''));
    before = '';
  }
}

/** The first lines and the rest, with a log line for a client that gets no whole answer. */
async function* whole(
  { log }: ExportSources,
  { signal, record: { requestId } }: Exchange,
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } catch (error) {
    if (!signal.aborted) log.warn({ requestId, error: String(error) }, 'an export was cut off');
    throw error;
  }
}

async function answer(
  sources: ExportSources,
  asked: RouteRequest,
  format: keyof typeof TYPES,
): Promise<HttpResponse> {
  const { exchange } = asked;
  if (isCrossSiteRequest(exchange.headers, sources.config.CORS_ORIGINS))
    throw httpError(
      403,
      'A page of another site may not ask for exports, unless the operator has listed its origin in CORS_ORIGINS.',
      { code: 'FORBIDDEN' },
    );
  identifyCaller(exchange);
  const body = lines(sources, exchange, readExportRequest(asked), format);
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
    body: whole(sources, exchange, first, body),
  };
}

/**
 * An export of a list in the body, and one of some identifiers in the address, which spreadsheets
 * can read.
 */
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
    { ...shared, described: describeBoth(describeRead) },
    { ...shared, methods: ['POST'], described: describeBoth(describeExport) },
  ];
}
