// Refuses POSTs without valid credentials before their body is read.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Authenticator } from '../auth/authenticate.ts';
import { createErrorResponse } from './error-response.ts';

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
