// Refuses what callers send who have not proved who they are, before any of it is read.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Authenticator } from '../auth/authenticate.ts';
import { createErrorResponse } from './error-response.ts';

/** @param onRefused - told of every refusal */
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
