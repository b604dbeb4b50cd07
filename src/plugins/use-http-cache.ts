// Lets browsers and CDNs keep answers to GET queries for public Atlas data, and nothing else: Cache-Control from the least
// cacheable field, an ETag, 304 for who has the answer already. It knows no resolver.
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { entityTag, isKnown } from '../entity-tag.ts';
import { cachePolicy } from '../http/response-cache/cache-policy.ts';
import { REPORT_HEADER } from './use-upstream-report.ts';
import { addVary } from './vary.ts';

export interface HttpCacheOptions {
  /** How long the gateway itself keeps records. */
  readonly recordSeconds: number;
  /** Whether callers have to prove themselves: what one was given must then not be given to another. */
  readonly proofNeeded: boolean;
}

/** What is not there may come any moment. */
const ABSENT_SECONDS = 60;
/** What all other answers say. */
export const NOT_KEPT = 'private, no-store';

/** Seconds that a result may be kept, where its document may be for so many; null for one that is not whole. */
export function keptSeconds(result: ExecutionResult, seconds: number): number | null {
  if (result.errors !== undefined || result.data == null) return null;
  return Object.values(result.data).includes(null) ? Math.min(seconds, ABSENT_SECONDS) : seconds;
}

/** What an answer that may be kept says about that. */
export const keptHeaders = (body: string | Uint8Array, seconds: number, proofNeeded: boolean) => ({
  'cache-control': `${proofNeeded ? 'private' : 'public'}, max-age=${seconds}`,
  etag: entityTag(body),
  vary: ['accept', REPORT_HEADER, ...(proofNeeded ? ['authorization'] : [])],
});

export const useHttpCache = ({ recordSeconds, proofNeeded }: HttpCacheOptions): Plugin => {
  /** Seconds that the answer to a request may be kept. */
  const allowed = new WeakMap<Request, number>();
  return {
    onExecute({ args, context }) {
      const { request } = context;
      if (request.method !== 'GET' || request.headers.get(REPORT_HEADER) === '1') return;
      const policy = cachePolicy(args.schema, args.document, recordSeconds);
      const seconds = policy(args.variableValues ?? {});
      if (seconds === null) return;
      return {
        onExecuteDone({ result }) {
          const kept = Symbol.asyncIterator in result ? null : keptSeconds(result, seconds);
          if (kept !== null) allowed.set(request, kept);
        },
      };
    },
    async onResponse({ request, response, setResponse, fetchAPI }) {
      if (response.headers.has('cache-control')) return;
      const seconds = allowed.get(request);
      if (seconds === undefined || response.status !== 200) {
        response.headers.set('cache-control', NOT_KEPT);
        return;
      }
      const body = await response.text();
      const { headers } = response;
      const { vary, ...kept } = keptHeaders(body, seconds, proofNeeded);
      for (const [name, value] of Object.entries(kept)) headers.set(name, value);
      addVary(headers, vary);
      const known = isKnown(request.headers.get('if-none-match'), kept.etag);
      if (known) headers.delete('content-length');
      setResponse(
        new fetchAPI.Response(known ? null : body, { status: known ? 304 : response.status, headers }),
      );
    },
  };
};
