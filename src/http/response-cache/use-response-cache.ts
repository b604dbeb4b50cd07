// Sets Cache-Control and ETag of GraphQL responses (and answers 304), and stores public ones in the
// response cache. Two plugins: the first decides before other headers are set, the last stores the
// finished response.
import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { createEtag, matchesIfNoneMatch } from '../../etag.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { toBuffer } from '../graphql/json-body.ts';
import { addVary } from '../plugins/use-response-headers.ts';
import { REPORT_HEADER } from '../plugins/use-telemetry.ts';
import { cachePolicy } from './cache-policy.ts';
import { pendingResponseOf } from './response-cache.ts';
import type { ResponseStore } from './response-store.ts';

export interface ResponseCachePluginOptions {
  readonly store: ResponseStore;
  /** How long the gateway itself caches records. */
  readonly recordSeconds: number;
  /** Whether callers must send credentials: shared caches must then not store responses. */
  readonly proofNeeded: boolean;
}

/** What is absent may come any moment. */
const ABSENT_SECONDS = 60;
/** Seconds that a response is given again at most. */
const MAX_STORED_SECONDS = 60;
const NO_STORE = 'private, no-store';

/**
 * Headers that are the same for every caller. A response with other headers, except those made anew
 * for each caller, is not stored.
 */
const STORED_HEADERS = new Set([
  'cache-control',
  'content-security-policy',
  'content-type',
  'cross-origin-resource-policy',
  'etag',
  'referrer-policy',
  'vary',
  'x-content-type-options',
  'x-frame-options',
  'x-sandbox',
]);
const PER_REQUEST_HEADERS = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'content-length',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'traceresponse',
  'x-request-id',
]);

/** An answer that may be stored. */
interface StorableAnswer {
  readonly seconds: number;
  readonly operationName: string | null;
  etag?: string;
}

const bodies = new WeakMap<Response, string | Buffer<ArrayBuffer>>();

/** Notes the body of a response, so that it need not be read from it. */
export function noteBody<T extends Response>(response: T, body: string | Buffer<ArrayBuffer>): T {
  bodies.set(response, body);
  return response;
}

/** The body that was noted. */
export const bodyOf = (response: Response): string | Buffer | undefined => bodies.get(response);

/** Seconds that a result may be stored; null for one that is not whole. */
function storableSeconds(result: ExecutionResult, seconds: number): number | null {
  if (result.errors !== undefined || result.data == null) return null;
  return Object.values(result.data).includes(null) ? Math.min(seconds, ABSENT_SECONDS) : seconds;
}

/** The storable headers as names and values in turn; null when there is another one. */
function storedHeaders(headers: Headers): string[] | null {
  const stored: string[] = [];
  for (const [name, value] of headers) {
    if (STORED_HEADERS.has(name)) stored.push(name, value);
    else if (!PER_REQUEST_HEADERS.has(name)) return null;
  }
  return stored;
}

/** Makes both plugins: the first and the last to see a response. */
export function responseCachePlugins(options: ResponseCachePluginOptions): { first: Plugin; last: Plugin } {
  const { store, recordSeconds, proofNeeded } = options;
  const answers = new WeakMap<Request, StorableAnswer>();

  const giveUp = (serverContext: unknown): void => {
    const pending = pendingResponseOf(nodeRequestOf(serverContext));
    if (pending !== undefined) store.settle(pending, null);
  };

  const first: Plugin = {
    onExecute({ args, context }) {
      const { request } = context;
      const { schema, document, operationName, variableValues } = args;
      const seconds =
        request.headers.get(REPORT_HEADER) === '1'
          ? null
          : cachePolicy(schema, document, recordSeconds)(variableValues ?? {});
      if (seconds === null) return giveUp(context);
      return {
        onExecuteDone({ result }) {
          const kept = Symbol.asyncIterator in result ? null : storableSeconds(result, seconds);
          if (kept === null) return giveUp(context);
          const name = getOperationAST(document, operationName)?.name?.value ?? null;
          answers.set(request, { seconds: kept, operationName: name });
        },
      };
    },
    onResponse({ request, response, setResponse, fetchAPI }) {
      const { headers, status } = response;
      if (headers.has('cache-control')) return;
      const answer = answers.get(request);
      const body = bodies.get(response);
      if (answer === undefined || body === undefined || status !== 200 || request.method !== 'GET') {
        headers.set('cache-control', NO_STORE);
        return;
      }
      answer.etag = createEtag(body);
      headers.set('cache-control', `${proofNeeded ? 'private' : 'public'}, max-age=${answer.seconds}`);
      headers.set('etag', answer.etag);
      addVary(headers, ['accept', REPORT_HEADER, ...(proofNeeded ? ['authorization'] : [])]);
      if (!matchesIfNoneMatch(request.headers.get('if-none-match'), answer.etag)) return;
      headers.delete('content-length');
      setResponse(noteBody(new fetchAPI.Response(null, { status: 304, headers }), body));
    },
  };

  const last: Plugin = {
    onResponse({ request, response, serverContext }) {
      const pending = pendingResponseOf(nodeRequestOf(serverContext));
      if (pending === undefined) return;
      const answer = answers.get(request);
      const body = bodies.get(response);
      // Concurrent identical requests share a response also where it may not be stored.
      const isAnswer = response.status === 200 || response.status === 304;
      const headers =
        answer === undefined || body === undefined || !isAnswer ? null : storedHeaders(response.headers);
      if (answer === undefined || body === undefined || headers === null) return store.settle(pending, null);
      const { etag, operationName, seconds } = answer;
      const cached = {
        headers,
        body: typeof body === 'string' ? toBuffer(body) : body,
        etag,
        isPublic: etag !== undefined && !proofNeeded,
        operationName,
      };
      store.settle(pending, cached, Math.min(seconds, MAX_STORED_SECONDS));
    },
  };
  return { first, last };
}
