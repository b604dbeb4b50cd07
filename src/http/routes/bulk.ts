// GET /bulk/{lookupId}/{part}.zip: a part's archive from the upstream. GET /bulk/{lookupId}.ndjson
// and .tsv: one protein per line, in the requested order. The look-up's id grants access.

import type { GatewayContext } from '../../context.ts';
import { exportTable, jsonLine, ROW_SCHEMA } from '../../lookups/export-row.ts';
import { isExpired, lookupRows } from '../../lookups/export-rows.ts';
import {
  type BulkLookup,
  type BulkRequest,
  chunkHashes,
  hasArchive,
  hasEnded,
  stateOf,
} from '../../lookups/lookup.ts';
import { openArchive } from '../../lookups/run.ts';
import { forwardedFile, type Route, type RouteAnswer, rangeHeaders, textResponse } from './responses.ts';

const TYPES = { ndjson: 'application/x-ndjson', tsv: 'text/tab-separated-values' } as const;
/** Seconds after which it is worth to try again while a look-up goes on. */
const SOON = { 'retry-after': '2' };

const notFound = (): Response =>
  textResponse(404, 'There is no such look-up. Look-ups are stored for 7 days.');

/** The upstream for a download: it lasts as long as the client stays. */
const lasting = (ctx: GatewayContext) => ({ ...ctx.upstream, signal: ctx.clientSignal, streamed: true });

const day = (): string => new Date().toISOString().slice(0, 10);

const encoder = new TextEncoder();

/** File names that say when they were made and what their rows look like. */
const attachment = (name: string): string => `attachment; filename="${name}"`;

async function streamPart(
  ctx: GatewayContext,
  request: Request,
  lookup: BulkLookup,
  ask: BulkRequest,
  index: number,
) {
  const part = lookup.parts[index];
  if (part === undefined) return textResponse(404, `The look-up has parts 0 to ${lookup.parts.length - 1}.`);
  if (!hasEnded(part.state)) return textResponse(409, 'This part is not finished yet.', SOON);
  if (part.state === 'EXPIRED') return textResponse(410, 'The upstream no longer has this part.');
  if (!hasArchive(part))
    return textResponse(409, `This part is ${part.state}. ${part.problem?.message ?? ''}`.trim());
  const hashes = chunkHashes(ask.hashes)[index] ?? [];
  const { bulk, downloads } = ctx.services;
  const answer = await openArchive(
    lasting(ctx),
    downloads,
    part,
    { hashes, options: ask.options },
    rangeHeaders(request),
  ).catch(async (error: unknown) => {
    if (isExpired(error)) await bulk.expire(lookup.lookupId, index);
    throw error;
  });
  return forwardedFile(answer, {
    'content-type': 'application/zip',
    'content-disposition': attachment(`foldatlas-proteins-${day()}-part${index}.zip`),
    'cache-control': 'private, no-store',
  });
}

function streamRows(
  ctx: GatewayContext,
  lookup: BulkLookup,
  ask: BulkRequest,
  ending: 'ndjson' | 'tsv',
): RouteAnswer {
  const state = stateOf(lookup);
  if (!hasEnded(state))
    return textResponse(409, `The look-up is ${state}; its rows can be downloaded when it has ended.`, SOON);
  const { bulk, catalogue, downloads, log } = ctx.services;
  const up = lasting(ctx);
  const rows = lookupRows(lookup, ask, {
    openPart: (part, hashes) => openArchive(up, downloads, part, { hashes, options: ask.options }),
    structureUrl: (hash) => `${ctx.publicUrl}/structures/${hash}.pdb`,
    openLoaders: async () => (await ctx.fresh())(),
    labelsOf: () => catalogue.entries(up),
    onGap(error, index) {
      log.warn({ requestId: ctx.requestId, part: index, error }, 'rows with gaps');
      if (isExpired(error)) void bulk.expire(lookup.lookupId, index).catch(() => undefined);
    },
    mapping: up.settings.mapping,
  });
  const table = exportTable(ask.options);
  async function* lines() {
    if (ending === 'tsv') yield encoder.encode(table.header);
    for await (const row of rows) yield encoder.encode(ending === 'tsv' ? table.line(row) : jsonLine(row));
  }
  return {
    status: 200,
    headers: {
      'content-type': `${TYPES[ending]}; charset=utf-8`,
      'content-disposition': attachment(`foldatlas-proteins-${day()}-schema${ROW_SCHEMA}.${ending}`),
      'cache-control': 'private, no-store',
    },
    body: lines(),
  };
}

export const bulkRoutes = (open: (request: Request) => Promise<GatewayContext>): Route => ({
  path: /^\/bulk\/([\w-]+)(?:\/(\d{1,4})\.zip|\.(ndjson|tsv))$/,
  async answer({ request, parts: [lookupId = '', index, ending] }) {
    const ctx = await open(request);
    const { bulk } = ctx.services;
    const [lookup, ask] = await Promise.all([bulk.get(lookupId), bulk.ask(lookupId)]);
    if (lookup === null || ask === null) return notFound();
    return index === undefined
      ? streamRows(ctx, lookup, ask, ending === 'tsv' ? 'tsv' : 'ndjson')
      : streamPart(ctx, request, lookup, ask, Number(index));
  },
});
