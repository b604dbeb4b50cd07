// Request and response of node:http, read from the context of Yoga's server adapter, which is
// untyped.
import { type IncomingMessage, ServerResponse } from 'node:http';

/** The answer as node:http has it; undefined for a request that came over no connection. */
export const nodeResponseOf = (serverContext: unknown): ServerResponse | undefined =>
  typeof serverContext === 'object' &&
  serverContext !== null &&
  'res' in serverContext &&
  serverContext.res instanceof ServerResponse
    ? serverContext.res
    : undefined;

/** The request as node:http has it; undefined for one that came over no connection. */
export const nodeRequestOf = (serverContext: unknown): IncomingMessage | undefined =>
  nodeResponseOf(serverContext)?.req;
