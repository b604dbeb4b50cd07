// Reads node's request and response from the server adapter's context, which is untyped.
import { IncomingMessage, ServerResponse } from 'node:http';

/** The request as node:http has it; undefined for one that came over no connection. */
export const nodeRequestOf = (serverContext: unknown): IncomingMessage | undefined =>
  typeof serverContext === 'object' &&
  serverContext !== null &&
  'req' in serverContext &&
  serverContext.req instanceof IncomingMessage
    ? serverContext.req
    : undefined;

/** The answer as node:http has it; undefined for a request that came over no connection. */
export const nodeResponseOf = (serverContext: unknown): ServerResponse | undefined =>
  typeof serverContext === 'object' &&
  serverContext !== null &&
  'res' in serverContext &&
  serverContext.res instanceof ServerResponse
    ? serverContext.res
    : undefined;
