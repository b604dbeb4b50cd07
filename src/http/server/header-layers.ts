// The two layers that set headers: those that every response has, and those of a single request.
import type { Config } from '../../config.ts';
import { matchesIfNoneMatch } from '../../etag.ts';
import type { Logger } from '../../telemetry/log.ts';
import { traceparent } from '../../telemetry/trace-context.ts';
import { type Exchange, type HttpResponse, isWhole, type Layer, type RateLimitResult } from '../exchange.ts';
import { cancelSource } from './body-stream.ts';
import { corsHeaders, isListed, setCommonHeaders } from './response-headers.ts';

const nothing = (): void => undefined;

/** The caller's rate limit as response headers. */
const rateLimitHeaders = ({ limit, remaining, resetSeconds }: RateLimitResult) => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
});

/** Adds the headers that every response has. A response is `no-store` unless it says otherwise. */
export const createCommonHeaders =
  ({ CORS_ORIGINS, proofNeeded }: Config, isSandbox: () => boolean): Layer =>
  async (exchange, next) => {
    const response = await next(exchange);
    const { headers } = response;
    headers['cache-control'] ??= 'private, no-store';
    setCommonHeaders(headers, isSandbox(), proofNeeded, CORS_ORIGINS);
    return response;
  };

/**
 * Adds the headers of a single request to a response, which others may get as well, and leaves out
 * what its client has or does not want.
 */
export function createPersonalHeaders({ CORS_ORIGINS: origins, PUBLIC_URL }: Config, log: Logger): Layer {
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
    if (!isWhole(body)) {
      if (method !== 'HEAD') return { status, headers, body };
      // Its stream ends, and with it a subscription.
      cancelSource(body).catch(nothing);
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

  return async (exchange, next) => personalize(exchange, await next(exchange));
}
