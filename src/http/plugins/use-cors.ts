// Access checks by origin, host and credentials: CORS, the Host header, authentication.
import type { Plugin } from 'graphql-yoga';
import { corsHeaders, isPreflight, preflightHeaders } from '../cors.ts';
import { addVary } from './vary.ts';
/**
 * Adds CORS headers and answers preflights.
 *
 * @param origins - exact origins, or `*`; empty allows none
 */
/** @param origins - exact origins, or `*` for all; empty keeps everything closed */
export const useCors = (origins: readonly string[]): Plugin => ({
  onRequest({ request, fetchAPI, endResponse }) {
    if (request.method !== 'OPTIONS') return;
    const headers = isPreflight(request)
      ? preflightHeaders(request, origins)
      : { allow: 'GET, HEAD, POST, OPTIONS' };
    endResponse(new fetchAPI.Response(null, { status: 204, headers: { ...headers, 'content-length': '0' } }));
  },
  onResponse({ request, response }) {
    for (const [name, value] of Object.entries(corsHeaders(request.headers.get('origin'), origins)))
      response.headers.set(name, value);
    if (request.method === 'OPTIONS') addVary(response.headers, ['access-control-request-headers']);
    if (origins.length > 0) addVary(response.headers, ['origin']);
  },
});
