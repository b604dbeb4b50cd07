// The way of every HTTP request: limits, then the response cache, then a route or GraphQL. Requests
// of `gateway.fetch` go the same way, without a connection.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { GraphQLError } from 'graphql';
import type { FetchAPI } from 'graphql-yoga';
import { readAtMost } from '../async/read-at-most.ts';
import type { Config } from '../config.ts';
import { matchesIfNoneMatch } from '../etag.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { traceparent } from '../telemetry/trace-context.ts';
import type { AccessCheck, AccessControl } from './access/access-control.ts';
import { ANONYMOUS, type Caller } from './access/authenticate.ts';
import { loopbackRefusal } from './access/loopback.ts';
import { rateLimitHeaders } from './access/rate-limit.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { bodyTooLarge, httpError, overloaded } from './errors.ts';
import { type Exchange, type HttpResponse, setExchange } from './exchange.ts';
import type { AnswerGraphql } from './graphql/graphql-handler.ts';
import { toClientError, toResponseInit } from './graphql/http-result.ts';
import { isJson, negotiateResponseType } from './graphql/media-type.ts';
import type { ClientErrors } from './graphql/plugins/client-errors.ts';
import { answerRoute, type Route } from './routes/route.ts';
import { destroyResponse, INTERNAL_ERROR, PLAIN_HEADERS, refuseTarget } from './server/http-server.ts';
import { type BodyFailure, createBodyReader, MAX_ANONYMOUS_BODY_BYTES } from './server/read-body.ts';
import { isMonitoring, normalizeTarget, requestPath } from './server/request-target.ts';
import { corsHeaders, isListed, optionsHeaders, setCommonHeaders } from './server/response-headers.ts';

export interface HttpHandler {
  readonly listener: RequestListener;
  fetch(request: Request): Promise<Response>;
}

export interface HandlerSources {
  readonly config: Config;
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly accessControl: AccessControl;
  readonly errors: Pick<ClientErrors, 'count' | 'countRefusal' | 'fail'>;
  readonly cache: ResponseCache;
  readonly routes: readonly Route[];
  readonly answerGraphql: AnswerGraphql;
  /** Yoga's classes: its Request takes a tenth of the time of Node's. */
  readonly fetchAPI: Pick<FetchAPI, 'Request'>;
  readonly isSandbox: () => boolean;
}

/** The most bytes that a caller may send in a body. */
const maxBodyBytes = (caller: Caller | GraphQLError, { MAX_BODY_BYTES }: Config): number =>
  caller instanceof GraphQLError || caller.principal === null
    ? Math.min(MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES)
    : MAX_BODY_BYTES;

/** The check of a request for monitoring, which is always answered. */
const UNCHECKED: AccessCheck = { caller: ANONYMOUS, rate: null, refusal: null };

const nothing = (): void => undefined;

/** The answer to a refused request. @param error - with `extensions.http` */
function refusalResponse({ path, headers: asked }: Exchange, error: GraphQLError): HttpResponse {
  const accepted = negotiateResponseType(asked.accept ?? null);
  const mediaType = isJson(accepted) ? accepted : 'application/json';
  const { status, headers } = toResponseInit({ errors: [error] }, mediaType);
  const isGraphql = path.startsWith('/graphql');
  const body = isGraphql ? JSON.stringify({ errors: [toClientError(error)] }) : `${error.message}\n`;
  const type = { 'content-type': `${isGraphql ? mediaType : 'text/plain'}; charset=utf-8` };
  return { status, headers: { 'cache-control': 'no-store', ...headers, ...type }, body };
}

/** Sends a response over its connection. */
async function send(
  connection: ServerResponse,
  { status, headers, body, encoding }: HttpResponse,
): Promise<void> {
  connection.writeHead(status, headers);
  if (!(body instanceof ReadableStream)) connection.end(body, encoding ?? 'utf8');
  // It ends early with the connection, and cuts the connection when it fails.
  else await pipeline(body, connection).catch(nothing);
}

export function createHttpHandler(sources: HandlerSources): HttpHandler {
  const { config, log, telemetry, accessControl, errors, cache, routes, isSandbox } = sources;
  const { answerGraphql, fetchAPI } = sources;
  const { CORS_ORIGINS: origins, PUBLIC_URL, keyForLoopback, proofNeeded } = config;
  const bodies = createBodyReader();

  /** Checks a client, and reads its body where it may send one. */
  async function check(
    { method, path, headers, address }: Pick<Exchange, 'method' | 'path' | 'headers' | 'address'>,
    read: (maxBytes: number) => Promise<Buffer | BodyFailure>,
  ): Promise<(AccessCheck & Pick<Exchange, 'body'>) | 'disconnected'> {
    if (isMonitoring(path)) return { ...UNCHECKED, body: undefined };
    const { authorization } = headers;
    const { caller, rate, refusal } = await accessControl.check({ method, authorization, address });
    if (method !== 'POST' || refusal !== null) return { caller, rate, refusal, body: undefined };
    const maxBytes = maxBodyBytes(caller, config);
    const body = await read(maxBytes);
    if (body === 'disconnected') return body;
    if (body === 'no_memory')
      return { caller, rate, refusal: { reason: 'busy', error: overloaded() }, body: undefined };
    if (body === 'too_large') return { caller, rate, refusal, body: bodyTooLarge(maxBytes) };
    return { caller, rate, refusal, body };
  }

  let hasWarned = false;
  /** Tells the operator once why a page of another origin sees a CORS error. */
  function warnOfForeignPage({ origin, host }: Exchange['headers']): void {
    if (hasWarned || origin === undefined || isListed(origin, origins)) return;
    const own = [host, ...(PUBLIC_URL === undefined ? [] : [new URL(PUBLIC_URL).host])];
    if (URL.canParse(origin) && own.includes(new URL(origin).host)) return;
    hasWarned = true;
    const hint = 'browsers keep answers from pages of this origin; list it in CORS_ORIGINS if it is yours';
    log.warn({ origin: origin.slice(0, 200) }, hint);
  }

  /** The response to a request that goes neither to the cache nor to Yoga. */
  function answerEarly(exchange: Exchange): HttpResponse | undefined {
    const { method, headers, connection, refusal, record } = exchange;
    const notLocal = keyForLoopback && connection !== undefined ? loopbackRefusal(headers) : null;
    if (notLocal !== null) return refusalResponse(exchange, httpError(403, notLocal, { code: 'FORBIDDEN' }));
    if (method === 'OPTIONS') return { status: 204, headers: optionsHeaders(headers, origins), body: null };
    if (refusal === null) return undefined;
    const { reason, error } = refusal;
    if (reason === 'credentials') errors.count(error, record);
    else errors.countRefusal(reason, error, record);
    return refusalResponse(exchange, error);
  }

  /** The request for routes and for Yoga's plugins. Its body is that of the exchange. */
  function toRequest({ method, url, path, headers }: Exchange, origin: string, signal: AbortSignal): Request {
    const given: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) given[name] = String(value);
    // Yoga knows GET and POST only; `finish` drops the body of a response to HEAD.
    const isGet = method === 'HEAD' && path === '/graphql';
    return new fetchAPI.Request(origin + url, { method: isGet ? 'GET' : method, headers: given, signal });
  }

  /** The response of the first route that takes the request, or of GraphQL. */
  async function answer(exchange: Exchange, request: Request): Promise<HttpResponse> {
    const { method, path, connection, record } = exchange;
    setExchange(request, exchange);
    try {
      const isOperation = method === 'POST' && path === '/graphql';
      const response = isOperation
        ? undefined
        : await answerRoute(routes, request, (error) => errors.fail(error, record));
      if (response === undefined) return await answerGraphql(request, exchange);
      const { status } = response;
      const content = status === 200 && method === 'GET' ? exchange.shareable?.content : undefined;
      return { status, headers: Object.fromEntries(response.headers), body: content ?? response.body };
    } catch (error) {
      // A browser that scrolls past a picture ends its request; that is no fault.
      if (connection?.destroyed !== true && !request.signal.aborted) errors.fail(error, record);
      return { status: 500, headers: { ...PLAIN_HEADERS }, body: INTERNAL_ERROR };
    }
  }

  /** A new response with the headers that every response has; it is stored if others may get it. */
  function finish(exchange: Exchange, response: HttpResponse): HttpResponse {
    // Subscriptions have a limit of their own.
    if (exchange.record.operation?.type === 'subscription') exchange.release();
    setCommonHeaders(response.headers, isSandbox(), proofNeeded, origins);
    return cache.finish(exchange, response);
  }

  /** A response, which others may get as well, as this request gets it. */
  function personalize(exchange: Exchange, response: HttpResponse): HttpResponse {
    const { method, record, rate, headers: asked } = exchange;
    const { status, body, encoding } = response;
    const own = { 'x-request-id': record.requestId, traceresponse: traceparent(record.span) };
    // A spread with more names after it takes twenty times as long in V8.
    const headers: HttpResponse['headers'] = Object.assign(own, response.headers);
    if (asked.origin !== undefined) Object.assign(headers, corsHeaders(asked.origin, origins));
    warnOfForeignPage(asked);
    // A response that caches may store carries nothing about a single caller.
    if (rate !== null && headers['cache-control']?.includes('public') !== true)
      Object.assign(headers, rateLimitHeaders(rate));
    if (body instanceof ReadableStream) {
      if (method !== 'HEAD') return { status, headers, body };
      // Its stream ends, and with it a subscription.
      body.cancel().catch(nothing);
      return { status, headers, body: null };
    }
    const { etag } = headers;
    if (status === 200 && etag !== undefined && matchesIfNoneMatch(asked['if-none-match'], etag)) {
      delete headers['content-length'];
      return { status: 304, headers, body: null };
    }
    if (body !== null) headers['content-length'] = String(Buffer.byteLength(body, encoding));
    return { status, headers, body: method === 'HEAD' ? null : body, encoding };
  }

  async function handle(incoming: IncomingMessage, connection: ServerResponse & { req: IncomingMessage }) {
    const { method = 'GET', url = '/', headers, socket } = incoming;
    const path = requestPath({ url });
    const client = { method, url, path, headers, address: accessControl.clientAddress(incoming) };
    const checked = await check(client, (maxBytes) => bodies.read(incoming, maxBytes));
    if (checked === 'disconnected') return;
    const { caller, rate, body } = checked;
    let { refusal } = checked;
    const release = isMonitoring(path) ? nothing : accessControl.loadShedder.enter();
    if (release === null) refusal ??= { reason: 'busy', error: overloaded() };
    const record = telemetry.begin({ method, path, headers });
    const exchange: Exchange = {
      method,
      url,
      path,
      headers,
      address: client.address,
      caller,
      rate,
      refusal,
      body,
      connection,
      record,
      release: release ?? nothing,
    };
    const bytesBefore = socket.bytesWritten;
    const end = (): void => {
      exchange.release();
      cache.abandon(exchange);
      if (Buffer.isBuffer(body)) bodies.release(body);
      const bytes = socket.bytesWritten - bytesBefore;
      const isDisconnected = !connection.writableFinished;
      telemetry.end(record, { status: connection.statusCode, bytes, isDisconnected });
    };
    if (connection.closed) return end();
    // First the listener below, added later, aborts the calls of a request whose client has left.
    connection.once('close', () => process.nextTick(end));
    const early = answerEarly(exchange);
    if (early !== undefined) return send(connection, personalize(exchange, finish(exchange, early)));
    const stored = await cache.find(exchange);
    if (connection.closed) return;
    if (stored !== null) return send(connection, personalize(exchange, stored));
    const controller = new AbortController();
    connection.once('close', () => {
      if (!connection.writableFinished) controller.abort();
    });
    const { host = `localhost:${socket.localPort}` } = headers;
    const request = toRequest(exchange, `http://${host}`, controller.signal);
    const response = finish(exchange, await answer(exchange, request));
    const personal = personalize(exchange, response);
    if (!connection.closed) await send(connection, personal);
  }

  return {
    listener: (incoming, connection) => {
      if (!normalizeTarget(incoming)) return refuseTarget(connection);
      handle(incoming, connection).catch((error: unknown) => {
        if (connection.closed) return;
        log.error({ error }, 'request');
        destroyResponse(connection);
      });
    },
    async fetch(request) {
      const { method, signal } = request;
      const { origin, pathname, search } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const client = { method, url: pathname + search, path: pathname, headers, address: undefined };
      const checked = await check(client, async (maxBytes) => {
        if (Number(headers['content-length'] ?? 0) > maxBytes) return 'too_large';
        const tooLarge = bodyTooLarge(maxBytes);
        return readAtMost(request.body, maxBytes, () => tooLarge).catch((error: unknown) => {
          if (error === tooLarge) return 'too_large' as const;
          throw error;
        });
      });
      if (checked === 'disconnected') throw signal.reason;
      const record = telemetry.begin({ method, path: pathname, headers });
      const exchange: Exchange = { ...client, ...checked, connection: undefined, record, release: nothing };
      const given = answerEarly(exchange) ?? (await answer(exchange, toRequest(exchange, origin, signal)));
      telemetry.end(record, { status: given.status });
      const { status, headers: all, body } = personalize(exchange, finish(exchange, given));
      return new Response(Buffer.isBuffer(body) ? new Uint8Array(body) : body, { status, headers: all });
    },
  };
}
