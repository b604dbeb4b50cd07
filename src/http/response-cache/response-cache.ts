// The response cache in front of Yoga: answers a stored response with its bytes, and shares one
// execution among identical concurrent requests. Other requests go on to Yoga;
// response-caching.ts stores their responses.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { matchesIfNoneMatch } from '../../etag.ts';
import { makeRequestId } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { traceparent } from '../../telemetry/tracing.ts';
import { destroyResponse } from '../faults.ts';
import type { AdmittedClient } from '../limits/admission.ts';
import { type LimitedRequest, limitedRequestOf, pathOf } from '../limits/request-limits.ts';
import type { Turns } from '../limits/turns.ts';
import { rateLimitHeaders } from '../plugins/access-checks.ts';
import { corsHeaders } from '../plugins/response-headers.ts';
import { endWithConnection } from '../plugins/use-telemetry.ts';
import { cacheKey } from './cache-key.ts';
import type { CachedResponse, PendingResponse, ResponseStore } from './response-store.ts';

export interface ResponseCacheOptions {
  readonly store: ResponseStore;
  readonly telemetry: Telemetry;
  readonly turns: Pick<Turns, 'begin'>;
  /** Origins whose pages may read answers. */
  readonly origins: readonly string[];
  /** Called with internal errors. */
  readonly onFault: (error: unknown) => void;
}

/** The pending response of a request that came through the cache. */
export const pendingResponseOf = (incoming: IncomingMessage | undefined): PendingResponse | undefined =>
  limitedRequestOf(incoming)?.pending;

/** Bytes of a body that are cheaper to copy than to write by themselves. */
const SMALL_BODY_BYTES = 16_384;

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

/** The listener behind the cache. */
export function withResponseCache(next: RequestListener, options: ResponseCacheOptions): RequestListener {
  const { store, telemetry, turns, origins, onFault } = options;

  function respond(
    req: IncomingMessage,
    res: ServerResponse,
    arrival: AdmittedClient,
    cached: CachedResponse,
    startedAt: number,
  ): void {
    const { body, etag, isPublic, operationName } = cached;
    const exchange = telemetry.arrive({
      requestId: makeRequestId(headerOf(req, 'x-request-id')),
      method: req.method,
      pathname: pathOf(req),
      traceparent: headerOf(req, 'traceparent'),
      startedAt,
    });
    exchange.principal = arrival.caller?.principal;
    endWithConnection(telemetry, exchange, req.socket, res);
    telemetry.setOperation(exchange, { type: 'query', name: operationName });
    const headers = [...cached.headers, 'x-request-id', exchange.requestId];
    headers.push('traceresponse', traceparent(exchange.step.context));
    if (origins.length > 0)
      for (const pair of Object.entries(corsHeaders(headerOf(req, 'origin'), origins))) headers.push(...pair);
    // A response that caches may store says nothing of a single caller.
    if (arrival.verdict !== null && !isPublic)
      for (const pair of Object.entries(rateLimitHeaders(arrival.verdict))) headers.push(...pair);
    if (etag !== undefined && matchesIfNoneMatch(headerOf(req, 'if-none-match'), etag)) {
      res.writeHead(304, headers).end();
      return;
    }
    headers.push('content-length', String(body.byteLength));
    res.writeHead(200, headers);
    // Node sends text together with the head, but bytes as a second piece.
    if (body.length <= SMALL_BODY_BYTES) res.end(body.toString('latin1'), 'latin1');
    else res.end(body);
  }

  /** Notes that the response of a request may be stored. */
  function begin(limited: LimitedRequest, res: ServerResponse, key: string): void {
    const pending = store.begin(key);
    limited.pending = pending;
    res.once('close', () => store.settle(pending, undefined));
  }

  return (req, res) => {
    const limited = limitedRequestOf(req);
    if (limited === undefined || limited.refusal !== undefined) return next(req, res);
    const { arrival, body } = limited;
    const isRefused = arrival.caller === null || arrival.verdict?.allowed === false;
    if (isRefused || (body !== undefined && !Buffer.isBuffer(body))) return next(req, res);
    const key = cacheKey(req, body);
    if (key === undefined) return next(req, res);
    const startedAt = performance.now();
    const answer = (cached: CachedResponse | null | undefined): void => {
      if (res.closed) return;
      try {
        if (cached == null) next(req, res);
        else respond(req, res, arrival, cached, startedAt);
      } catch (error) {
        if (res.closed) return;
        onFault(error);
        destroyResponse(res);
      }
    };
    const seek = (run: (work: () => void) => void): void => {
      const found = store.get(key);
      if (found === undefined && store.follow(key, settled)) return;
      if (found === undefined) begin(limited, res, key);
      run(() => answer(found));
    };
    // Hundreds may follow one response.
    const inTurn = (work: () => void): void => turns.begin(arrival.address, work);
    const settled = (response: CachedResponse | null | undefined): void => {
      if (res.closed) return;
      if (response === undefined) seek(inTurn);
      else {
        if (response === null) begin(limited, res, key);
        inTurn(() => answer(response));
      }
    };
    seek((work) => work());
  };
}
