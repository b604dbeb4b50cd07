// Lets browsers and CDNs keep answers to GET queries for public Atlas data, and nothing else: Cache-Control from the least
// cacheable field, an ETag, 304 for who has the answer already. It knows no resolver.
import type { Plugin } from 'graphql-yoga';
import { entityTag, isKnown } from '../entity-tag.ts';
import { cacheSeconds } from './cache-policy.ts';
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
const NOT_KEPT = 'private, no-store';

export const useHttpCache = ({ recordSeconds, proofNeeded }: HttpCacheOptions): Plugin => {
  /** Seconds that the answer to a request may be kept. */
  const allowed = new WeakMap<Request, number>();
  return {
    onExecute({ args, context }) {
      const { request } = context;
      if (request.method !== 'GET' || request.headers.get(REPORT_HEADER) === '1') return;
      const seconds = cacheSeconds(args.schema, args.document, args.variableValues ?? {}, recordSeconds);
      if (seconds === null) return;
      return {
        onExecuteDone({ result }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined || result.data == null) return;
          const absent = Object.values(result.data).includes(null);
          allowed.set(request, absent ? Math.min(seconds, ABSENT_SECONDS) : seconds);
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
      const etag = entityTag(body);
      headers.set('cache-control', `${proofNeeded ? 'private' : 'public'}, max-age=${seconds}`);
      headers.set('etag', etag);
      addVary(headers, ['accept', REPORT_HEADER]);
      const known = isKnown(request.headers.get('if-none-match'), etag);
      if (known) headers.delete('content-length');
      setResponse(
        new fetchAPI.Response(known ? null : body, { status: known ? 304 : response.status, headers }),
      );
    },
  };
};
