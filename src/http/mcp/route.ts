// POST /mcp: the Model Context Protocol over streamable HTTP, without sessions. Limits,
// authentication and log are those of every route; each document of a tool runs as a POST to
// /graphql of the same caller.
import type { GraphQLSchema } from 'graphql';
import { readAtMost } from '../../async/read-at-most.ts';
import { isLoopback } from '../../config/loopback.ts';
import type { Config } from '../../config.ts';
import { excerpt } from '../../plain-text.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { traceparent } from '../../telemetry/trace-context.ts';
import type { Fields } from '../../upstream/json/is-fields.ts';
import { type Exchange, type HttpResponse, readBody } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import type { GraphqlHandler } from '../graphql/graphql-handler.ts';
import type { Route } from '../routes/route.ts';
import { parseClientJson } from '../server/json-body.ts';
import { isListed } from '../server/response-headers.ts';
import { withoutNulls } from './tolerance.ts';
import { type GraphqlAnswer, ToolError } from './tool-result.ts';
import type { RunDocument } from './tools.ts';

export interface McpSources {
  readonly schema: GraphQLSchema;
  readonly config: Config;
  readonly telemetry: Pick<Telemetry, 'begin' | 'end'>;
  readonly answerParams: GraphqlHandler['answerParams'];
}

/** The most bytes of an answer that the gateway reads before it shortens it. */
const MAX_ANSWER_BYTES = 2_000_000;

/** Reads the answer to a document. @throws ToolError where it is too large */
export async function readAnswer(body: AsyncIterable<Uint8Array> | null): Promise<GraphqlAnswer> {
  const tooLarge = () =>
    new ToolError(
      'The answer has more than 2 MB. Select fewer fields or shorter lists, or page through them.',
    );
  return JSON.parse((await readAtMost(body, MAX_ANSWER_BYTES, tooLarge)).toString());
}

/** A variable that is undefined would be null, and have no default. */
const withoutUndefined = (variables: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));

async function* toPieces({ body }: HttpResponse): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) yield Buffer.from(body);
  else for await (const piece of body ?? []) yield Buffer.from(piece);
}

/**
 * Runs documents for the caller of a request, which has passed the limits and is not counted again.
 */
function createRunner({ telemetry, answerParams }: McpSources, outer: Exchange): RunDocument {
  const { headers: given, record: own } = outer;
  const { host, authorization, tracestate } = given;
  const json = { accept: 'application/json', 'content-type': 'application/json' };
  const trace = { traceparent: traceparent(own.span), 'x-request-id': own.requestId };
  const headers = { host, authorization, tracestate, ...json, ...trace };
  return async (query, variables) => {
    const record = telemetry.begin({ method: 'POST', path: '/graphql', headers });
    const exchange: Exchange = {
      ...outer,
      ...{ url: '/graphql', path: '/graphql', headers, record },
      ...{ body: undefined, release: () => undefined },
      onEnd: (cleanUp) => record.onEnd.push(cleanUp),
      share: (run) => run(exchange),
    };
    let status = 500;
    try {
      const response = await answerParams(exchange, { query, variables: withoutUndefined(variables) });
      ({ status } = response);
      return await readAnswer(toPieces(response));
    } finally {
      telemetry.end(record, { status });
    }
  };
}

/**
 * Whether a page of another site has sent the request: clients other than browsers send no Origin.
 * The Host header alone proves nothing, because any site can point a name of its own to this
 * machine.
 */
function isForeignPage(exchange: Exchange, { CORS_ORIGINS, PUBLIC_URL }: Config): boolean {
  const { origin } = exchange.headers;
  if (origin === undefined || isListed(origin, CORS_ORIGINS)) return false;
  const host = URL.canParse(origin) ? new URL(origin).host : null;
  const own = new URL(PUBLIC_URL ?? exchange.origin);
  return own.host !== host || (PUBLIC_URL === undefined && !isLoopback(own.hostname));
}

/** Characters of a text in a message, such as the name of a tool: the library quotes them. */
const MAX_TEXT_CHARACTERS = 500;

/**
 * Refuses long texts in all of a message but the arguments of a tool. @throws GraphQLError (400)
 */
function checkTexts(message: unknown): void {
  JSON.stringify(message, (name: string, value: unknown) => {
    // Icons of a client are data.
    if (name === 'arguments' || name.endsWith('clientInfo')) return undefined;
    if (
      name.length > MAX_TEXT_CHARACTERS ||
      (typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS)
    )
      throw httpError(
        400,
        `\`${excerpt(name)}\` is longer than ${MAX_TEXT_CHARACTERS} characters. Long values belong into the ` +
          'arguments of a tool.',
      );
    return value;
  });
}

/** @throws GraphQLError (400, 413) */
function readMessage(exchange: Exchange): unknown {
  const message = parseClientJson(readBody(exchange), 'The body');
  if (Array.isArray(message)) throw httpError(400, 'Send each message by itself, not as a batch.');
  checkTexts(message);
  return withoutNulls(message);
}

/**
 * The request as the library reads it; its body is parsed. It quotes headers of its own, of which
 * none is long.
 */
function toRequest({ origin, url, method, headers, signal }: Exchange): Request {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return [[name, String(value).slice(0, name.startsWith('mcp-') ? MAX_TEXT_CHARACTERS : undefined)]];
  });
  return new Request(origin + url, { method, headers: given, signal });
}

type Respond = (exchange: Exchange, message: unknown) => Promise<HttpResponse>;

export function mcpRoute(sources: McpSources): Route {
  const { schema, config } = sources;
  let opened: Promise<Respond> | undefined;

  /** Loads the library with the first request: most gateways have none. */
  async function open(): Promise<Respond> {
    const [{ createMcpHandler }, { createMcpServers }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('./server.ts'),
    ]);
    const { createServer, refuse } = createMcpServers(schema, config);
    return async (exchange, message) => {
      const refusal = refuse(message);
      if (refusal !== null)
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(refusal),
        };
      const factory = () => createServer(createRunner(sources, exchange));
      // Tools and resources never change, and an open stream would be a request in flight for ever.
      const handler = createMcpHandler(factory, { maxSubscriptions: 0 });
      const { status, headers, body } = await handler.fetch(toRequest(exchange), { parsedBody: message });
      // Whether the connection is kept is for the listener to say.
      headers.delete('connection');
      return { status, headers: Object.fromEntries(headers), body };
    };
  }

  return {
    path: /^\/mcp$/,
    methods: ['POST'],
    async answer({ exchange }) {
      if (isForeignPage(exchange, config))
        throw httpError(403, 'Only pages that CORS_ORIGINS lists may use this address.', {
          code: 'FORBIDDEN',
        });
      const message = readMessage(exchange);
      opened ??= open();
      const respond = await opened;
      return respond(exchange, message);
    },
  };
}
