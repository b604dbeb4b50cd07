// Headers that every answer carries: the request's id, what browsers must not guess, and whether a sandbox answered.
import type { Plugin } from 'graphql-yoga';
import { requestIdOf } from '../operations/request-id.ts';

/** @param sandbox - whether the upstream is the embedded sandbox */
export const useAnswerHeaders = (sandbox: boolean): Plugin => ({
  onResponse({ request, response }) {
    response.headers.set('x-request-id', requestIdOf(request));
    response.headers.set('x-content-type-options', 'nosniff');
    if (sandbox) response.headers.set('x-sandbox', '1');
  },
});
