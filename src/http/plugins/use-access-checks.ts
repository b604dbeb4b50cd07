// Access checks by origin, host and credentials: CORS, the Host header, authentication.

import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { hostNotAllowed } from '../auth/auth-errors.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { isAllowedHost } from '../auth/loopback.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { corsHeaders, isPreflight, preflightHeaders } from '../cors.ts';
import { createErrorResponse } from './error-response.ts';
import { addVary } from './use-response-headers.ts';

/**
 * Adds CORS headers and answers preflights.
 *
 * @param origins - exact origins, or `*`; empty allows none
 */
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

/**
 * Refuses requests whose Host header names another server (DNS rebinding).
 *
 * @param publicUrl - the gateway's URL when it is behind a proxy
 */
export const useHostCheck = (publicUrl: string | undefined): Plugin => ({
  onRequest({ request, serverContext, endResponse }) {
    const incoming = nodeRequestOf(serverContext);
    if (incoming !== undefined && !isAllowedHost(incoming.headers.host, publicUrl))
      endResponse(createErrorResponse(request, hostNotAllowed()));
  },
});

/**
 * Refuses POSTs without valid credentials before their body is read.
 *
 * @param onRefused - called for each refusal
 */
export const useProof = (
  callers: Pick<Authenticator, 'identify'>,
  onRefused: (error: GraphQLError, request: Request) => void,
): Plugin => ({
  async onRequest({ request, endResponse }) {
    if (request.method !== 'POST') return;
    try {
      await callers.identify(request);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      onRefused(error, request);
      endResponse(createErrorResponse(request, error));
    }
  },
});
