// The way of every HTTP request around GraphQL, in order: what answers or refuses it before, and
// what its response is given.
import type { Plugin } from 'graphql-yoga';
import { createPrivateField } from '../../private-field.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { traceparent } from '../../telemetry/tracing.ts';
import { isAllowedHost } from '../auth/loopback.ts';
import { nodeRequestOf, nodeResponseOf } from '../auth/node-request.ts';
import { httpError } from '../errors.ts';
import { brokenResponse } from '../limits/http-server.ts';
import {
  type AccessCheckSources,
  type AccessVerdict,
  checkAccess,
  rateLimitHeaders,
  refusalResponse,
} from './access-checks.ts';
import { answerRoute, type Route } from './answer-route.ts';
import { bodyOf, type ResponseCaching } from './response-caching.ts';
import { addCors, answerOptions, withHeaders } from './response-headers.ts';
import { endWithConnection } from './use-telemetry.ts';

export interface HttpSources extends AccessCheckSources {
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly caching: ResponseCaching;
  readonly routes: readonly Route[];
  readonly isSandbox: () => boolean;
}

const hostNotAllowed = httpError(
  403,
  'This gateway holds a key for this machine only: ask it as localhost, 127.0.0.1 or [::1]. ' +
    '(Behind a proxy set PUBLIC_URL.)',
  { code: 'FORBIDDEN' },
);

/** Answers HEAD with what GET would be answered with, without its body. */
async function withoutBody(response: Response): Promise<Response> {
  const { status, statusText, headers } = response;
  const body = bodyOf(response);
  if (body !== undefined && status !== 304) headers.set('content-length', String(Buffer.byteLength(body)));
  // Ends a stream, and with it a subscription.
  await response.body?.cancel();
  return new Response(null, { status, statusText, headers });
}

export function useHttp(sources: HttpSources): Plugin {
  const { config, log, telemetry, caching, routes, isSandbox } = sources;
  const { CORS_ORIGINS: origins, PUBLIC_URL, keyForLoopback, proofNeeded } = config;
  const verdicts = createPrivateField<Request, AccessVerdict>();
  const asHead = createPrivateField<Request, true>();

  function begin(request: Request, serverContext: unknown): void {
    const exchange = telemetry.begin(request, asHead.get(request) === true ? 'HEAD' : undefined);
    const connection = nodeResponseOf(serverContext);
    if (connection !== undefined) endWithConnection(telemetry, exchange, connection.req.socket, connection);
  }

  /** The response to a request that GraphQL is not to see. */
  async function answerEarly(
    request: Request,
    pathname: string,
    serverContext: unknown,
  ): Promise<Response | undefined> {
    const incoming = nodeRequestOf(serverContext);
    if (keyForLoopback && incoming !== undefined && !isAllowedHost(incoming.headers.host, PUBLIC_URL))
      return refusalResponse(request, pathname, hostNotAllowed);
    if (request.method === 'OPTIONS') return answerOptions(request, origins);
    const verdict = await checkAccess(sources, request, pathname, incoming);
    verdicts.set(request, verdict);
    if (verdict.refusal !== undefined) return refusalResponse(request, pathname, verdict.refusal);
    if (request.method === 'POST' && pathname === '/graphql') return undefined;
    return answerRoute(routes, request, serverContext);
  }

  async function finish(request: Request, given: Response, serverContext: unknown): Promise<Response> {
    const exchange = telemetry.exchangeOf(request);
    const isConnected = nodeResponseOf(serverContext) !== undefined;
    if (!isConnected) telemetry.end(exchange, { status: given.status, bytes: undefined, left: false });
    const { leave, rate } = verdicts.get(request) ?? {};
    // Subscriptions have a limit of their own.
    if (!isConnected || exchange.operation?.type === 'subscription') leave?.();
    given.headers.set('traceresponse', traceparent(exchange.step.context));
    // First what is the same for every caller, and may be stored.
    const shared = await withHeaders(request, given, { isSandbox: isSandbox(), proofNeeded });
    addCors(request, shared.headers, origins);
    const response = caching.finish(request, shared, serverContext);
    const { headers } = response;
    // What many are given says nothing of one.
    if (rate != null && headers.get('cache-control')?.includes('public') !== true)
      for (const [name, value] of Object.entries(rateLimitHeaders(rate))) headers.set(name, value);
    return asHead.get(request) === true ? withoutBody(response) : response;
  }

  function broken(error: unknown): Response {
    log.error({ error }, 'request');
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
          asHead.set(request, true);
          setRequest(request);
        }
        begin(request, serverContext);
        const response = await answerEarly(request, pathname, serverContext);
        if (response !== undefined) endResponse(response);
      } catch (error) {
        endResponse(broken(error));
      }
    },
    async onResponse({ request, response, serverContext, setResponse }) {
      try {
        const finished = await finish(request, response, serverContext);
        if (finished !== response) setResponse(finished);
      } catch (error) {
        setResponse(await withHeaders(request, broken(error), { isSandbox: isSandbox(), proofNeeded }));
      }
    },
  };
}
