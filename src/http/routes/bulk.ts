// GET /bulk/{lookupId}/{part}.zip: the archive of one part of a bulk look-up, as the service made
// it. The id of the look-up grants access.
import type { GatewayContext } from '../../context.ts';
import { openPartArchive } from '../../lookups/bulk-lookup.ts';
import type { PartStatus } from '../../lookups/bulk-part.ts';
import type { Exchange, HttpResponse } from '../exchange.ts';
import { RANGES } from './description.ts';
import { forwardFile, rangeHeaders, textResponse } from './responses.ts';
import type { Route } from './route.ts';

/** Seconds after which it is worth to ask for an unfinished part again. */
const RETRY_SECONDS = '5';

function refusePart({ state, problem }: PartStatus): HttpResponse {
  if (state === 'EXPIRED')
    return textResponse(410, 'The service no longer has this part. Look up its hashes again.');
  if (state === 'FAILED' || state === 'CANCELLED')
    return textResponse(409, `This part is ${state} and has no archive. ${problem ?? ''}`.trim());
  return textResponse(409, 'This part is not finished yet.', { 'retry-after': RETRY_SECONDS });
}

async function sendPart(
  ctx: GatewayContext,
  exchange: Exchange,
  lookupId: string,
  index: number,
): Promise<HttpResponse> {
  const { lookups } = ctx.services;
  const lookup = await lookups.get(lookupId);
  if (lookup === null) return textResponse(404, 'There is no such look-up. Look-ups are stored for 3 days.');
  const part = lookup.parts[index];
  if (part === undefined) return textResponse(404, `The look-up has parts 0 to ${lookup.parts.length - 1}.`);
  // A download lasts as long as the client stays.
  const up = { ...ctx.upstream, signal: ctx.clientSignal };
  const opened = await openPartArchive(up, lookup, part, rangeHeaders(exchange));
  if ('state' in opened) return refusePart(opened);
  const day = new Date().toISOString().slice(0, 10);
  return forwardFile(opened, {
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="foldatlas-proteins-${day}-part${index}.zip"`,
    'cache-control': 'private, no-store',
  });
}

export const bulkRoute = (open: (exchange: Exchange) => Promise<GatewayContext>): Route => ({
  path: /^\/bulk\/([\w-]+)\/(\d{1,4})\.zip$/,
  described: {
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
  },
  answer: async ({ exchange, parts: [lookupId = '', index] }) =>
    sendPart(await open(exchange), exchange, lookupId, Number(index)),
});
