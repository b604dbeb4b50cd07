// Headers that every answer carries: the request's id, and whether a sandbox answered.
import type { Plugin } from 'graphql-yoga';
import { requestIdOf } from '../operations/request-id.ts';

/** @param sandbox - whether the upstream is the embedded sandbox */
export const useAnswerHeaders = (sandbox: boolean): Plugin => ({
  onResponse({ request, response }) {
    response.headers.set('x-request-id', requestIdOf(request));
    if (sandbox) response.headers.set('x-sandbox', '1');
  },
});
