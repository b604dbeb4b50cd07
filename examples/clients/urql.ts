// FoldAtlas for urql 6, complete: copy this file into your project.
//   npm install @urql/core graphql graphql-sse
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-sse';

export interface FoldAtlasOptions {
  /** Such as `http://127.0.0.1:4000/graphql`. */
  readonly url: string;
  /** Such as `{ authorization: 'Bearer …' }`, which folds need. */
  readonly headers?: Record<string, string>;
}

/**
 * Short queries by GET, which caches may keep; `@defer` in one answer; subscriptions over
 * Server-Sent Events.
 */
export function createFoldAtlasClient({ url, headers = {} }: FoldAtlasOptions): Client {
  const events = createClient({ url, headers });
  return new Client({
    url,
    // Without this line deferred parts come one by one. `await client.query(...)` of such an answer
    // may then end a Node.js process: urql 6 aborts the stream and leaves the AbortError unhandled.
    fetchOptions: { headers: { accept: 'application/graphql-response+json, application/json', ...headers } },
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: events.subscribe({ query, ...(variables ? { variables } : {}) }, sink),
          }),
        }),
      }),
    ],
  });
}
