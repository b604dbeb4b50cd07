// Headers that every answer carries: the request's id, what browsers must not guess, and whether a sandbox answered.
import { randomUUID } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';

const ids = new WeakMap<Request, string>();

/** The id of a request: the caller's own where it sent a usable one in `x-request-id`, else a new one, the same whenever asked. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const given = request.headers.get('x-request-id') ?? '';
  const id = /^[\w.:-]{8,128}$/.test(given) ? given : randomUUID();
  ids.set(request, id);
  return id;
}

/** @param sandbox - whether the upstream is the embedded sandbox */
export const useAnswerHeaders = (sandbox: boolean): Plugin => ({
  onResponse({ request, response }) {
    response.headers.set('x-request-id', requestIdOf(request));
    response.headers.set('x-content-type-options', 'nosniff');
    if (sandbox) response.headers.set('x-sandbox', '1');
  },
});
