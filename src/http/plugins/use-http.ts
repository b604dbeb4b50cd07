// The way of every HTTP request around GraphQL, in order: what answers or refuses it before, and
// what its response is given.
import type { IncomingMessage } from 'node:http';
import { mapAsyncIterator } from '@graphql-tools/utils';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { traceparent } from '../../telemetry/trace-context.ts';
import type { CallRecord } from '../../telemetry/upstream-calls.ts';
import type { AccessControl } from '../access-control.ts';
import { loopbackRefusal } from '../auth/loopback.ts';
import { nodeRequestOf, nodeResponseOf } from '../auth/node-request.ts';
import { httpError } from '../errors.ts';
import { toClientError, toResponseInit } from '../graphql/http-result.ts';
import { isJson, negotiateResponseType } from '../graphql/media-type.ts';
import { brokenResponse } from '../limits/http-server.ts';
import { type RateLimitResult, rateLimitHeaders } from '../limits/rate-limit.ts';
import { limitCheck } from '../limits/request-limits.ts';
import { isMonitoring } from '../request-target.ts';
import { knownBody, type ResponseCache } from '../response-cache.ts';
import { answerRoute, type Route } from '../routes/route.ts';
import type { ClientErrors } from './errors.ts';
import { addCors, answerOptions, isListed, setCommonHeaders } from './response-headers.ts';

export interface HttpSources {
  readonly config: Config;
  readonly accessControl: Pick<AccessControl, 'check' | 'remember'>;
  readonly errors: Pick<ClientErrors, 'count' | 'countRefusal'>;
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly cache: ResponseCache;
  readonly routes: readonly Route[];
  readonly isSandbox: () => boolean;
}

/** What the checks have said of a request. */
interface AccessVerdict {
  readonly refusal?: GraphQLError;
  /** What is left of its caller's rate limit; absent where nothing is counted. */
  readonly rate?: RateLimitResult | null;
  /** Ends its count among the requests in flight early, once or more often. */
  readonly leave?: () => void;
}

/**
 * Refuses requests beyond the limits of the process or of their caller, and POSTs without valid
 * credentials. The limits have checked a request that came over a connection already.
 */
async function checkAccess(
  { accessControl, errors }: HttpSources,
  request: Request,
  pathname: string,
  incoming: IncomingMessage | undefined,
): Promise<AccessVerdict> {
  if (isMonitoring(pathname)) return {};
  const { method, headers } = request;
  const authorization = headers.get('authorization') ?? undefined;
  const limited = limitCheck(incoming);
  const check = limited ?? (await accessControl.check({ method, authorization, address: undefined }));
  accessControl.remember(request, check);
  const verdict = { rate: check.rate, ...(limited === undefined ? {} : { leave: limited.leave }) };
  if (check.refusal === null) return verdict;
  const { reason, error } = check.refusal;
  if (reason === 'credentials') errors.count(error, request);
  else errors.countRefusal(reason, error, request);
  return { ...verdict, refusal: error };
}

/** The answer to a refused request. @param error - with `extensions.http` */
function refusalResponse(request: Request, pathname: string, error: GraphQLError): Response {
  const accepted = negotiateResponseType(request.headers.get('accept'));
  const mediaType = isJson(accepted) ? accepted : 'application/json';
  const { status, headers } = toResponseInit({ errors: [error] }, mediaType);
  const isGraphql = pathname.startsWith('/graphql');
  const body = isGraphql ? JSON.stringify({ errors: [toClientError(error)] }) : `${error.message}\n`;
  const type = { 'content-type': `${isGraphql ? mediaType : 'text/plain'}; charset=utf-8` };
  return new Response(body, { status, headers: { 'cache-control': 'no-store', ...headers, ...type } });
}

const reported = (result: ExecutionResult, record: CallRecord): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: record.read() },
});

/**
 * Whether this is the last part of a result. Events of subscriptions are no parts and have no
 * report.
 */
const isLast = (result: ExecutionResult): boolean => 'hasNext' in result && result.hasNext === false;

/** Answers HEAD with what GET would be answered with, without its body. */
async function withoutBody(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  const body = knownBody(response);
  if (body !== undefined && status !== 304) headers.set('content-length', String(Buffer.byteLength(body)));
  // Ends a stream, and with it a subscription.
  await response.body?.cancel();
  return new Response(null, { status, statusText, headers });
}

export function useHttp(sources: HttpSources): Plugin {
  const { config, log, telemetry, cache, routes, isSandbox } = sources;
  const { CORS_ORIGINS: origins, PUBLIC_URL, keyForLoopback, proofNeeded } = config;
  const verdicts = new WeakMap<Request, AccessVerdict>();
  const asHead = new WeakSet<Request>();

  function begin(request: Request, serverContext: unknown): void {
    const record = telemetry.begin(request, asHead.has(request) ? 'HEAD' : undefined);
    const connection = nodeResponseOf(serverContext);
    if (connection !== undefined) telemetry.endOnClose(record, connection);
  }

  let hasWarned = false;
  /** Tells the operator once why a page of another origin sees a CORS error. */
  function warnOfForeignPage({ url, headers }: Request): void {
    const origin = headers.get('origin');
    if (hasWarned || origin === null || isListed(origin, origins)) return;
    const own = [url, ...(PUBLIC_URL === undefined ? [] : [PUBLIC_URL])].map((one) => new URL(one).host);
    if (URL.canParse(origin) && own.includes(new URL(origin).host)) return;
    hasWarned = true;
    const hint = 'browsers keep answers from pages of this origin; list it in CORS_ORIGINS if it is yours';
    log.warn({ origin: origin.slice(0, 200) }, hint);
  }

  /** The response to a request that GraphQL is not to see. */
  async function answerEarly(
    request: Request,
    pathname: string,
    serverContext: unknown,
  ): Promise<Response | undefined> {
    const incoming = nodeRequestOf(serverContext);
    const notLocal = keyForLoopback && incoming !== undefined ? loopbackRefusal(incoming.headers) : null;
    if (notLocal !== null)
      return refusalResponse(request, pathname, httpError(403, notLocal, { code: 'FORBIDDEN' }));
    if (request.method === 'OPTIONS') return answerOptions(request, origins);
    const verdict = await checkAccess(sources, request, pathname, incoming);
    verdicts.set(request, verdict);
    if (verdict.refusal !== undefined) return refusalResponse(request, pathname, verdict.refusal);
    if (request.method === 'POST' && pathname === '/graphql') return undefined;
    return answerRoute(routes, request, serverContext);
  }

  async function finish(request: Request, given: Response, serverContext: unknown): Promise<Response> {
    const record = telemetry.requestRecord(request);
    const isConnected = nodeResponseOf(serverContext) !== undefined;
    if (!isConnected) telemetry.end(record, { status: given.status });
    const { leave, rate } = verdicts.get(request) ?? {};
    // Subscriptions have a limit of their own.
    if (record.operation?.type === 'subscription') leave?.();
    given.headers.set('traceresponse', traceparent(record.span.context));
    // First what is the same for every caller, and may be stored.
    setCommonHeaders(record.requestId, given.headers, isSandbox(), proofNeeded);
    addCors(request, given.headers, origins);
    warnOfForeignPage(request);
    const response = cache.finish(request, given, serverContext);
    const { headers } = response;
    // What many are given says nothing of one.
    if (rate != null && headers.get('cache-control')?.includes('public') !== true)
      for (const [name, value] of Object.entries(rateLimitHeaders(rate))) headers.set(name, value);
    return asHead.has(request) ? withoutBody(response) : response;
  }

  function note({ document, operationName }: ExecutionArgs, request: Request): void {
    const operation = getOperationAST(document, operationName);
    if (operation == null) return;
    const { operation: type, name } = operation;
    telemetry.requestRecord(request).operation = { type, name: name?.value ?? null };
  }
  function broken(error: unknown, { signal }: Request): Response {
    // A browser that scrolls past a picture ends its request: no fault, and no reader.
    if (!signal.aborted) log.error({ error }, 'request');
    return brokenResponse();
  }

  return {
    async onRequest({ request: given, url: { pathname }, serverContext, fetchAPI, setRequest, endResponse }) {
      let request = given;
      try {
        // Yoga knows GET and POST only.
        if (given.method === 'HEAD' && pathname === '/graphql') {
          const { headers, signal } = given;
          request = new fetchAPI.Request(given.url, { method: 'GET', headers, signal });
          asHead.add(request);
          setRequest(request);
        }
        begin(request, serverContext);
        const response = await answerEarly(request, pathname, serverContext);
        if (response !== undefined) endResponse(response);
      } catch (error) {
        endResponse(broken(error, request));
      }
    },
    async onResponse({ request, response, serverContext, setResponse }) {
      try {
        const finished = await finish(request, response, serverContext);
        if (finished !== response) setResponse(finished);
      } catch (error) {
        const instead = broken(error, request);
        setCommonHeaders(
          telemetry.requestRecord(request).requestId,
          instead.headers,
          isSandbox(),
          proofNeeded,
        );
        setResponse(instead);
      }
    },
    onExecute: ({ args, context }) => note(args, context.request),
    onSubscribe: ({ args, context }) => note(args, context.request),
    onExecutionResult({ request, result, setResult }) {
      const record = telemetry.requestRecord(request).report;
      if (record === undefined || result === undefined || Array.isArray(result)) return;
      if (Symbol.asyncIterator in result)
        setResult(mapAsyncIterator(result, (part) => (isLast(part) ? reported(part, record) : part)));
      else setResult(reported(result, record));
    },
  };
}
