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

/** Short queries by GET, which caches may keep; subscriptions over Server-Sent Events. */
export function createFoldAtlasClient({ url, headers = {} }: FoldAtlasOptions): Client {
  const events = createClient({ url, headers });
  return new Client({
    url,
    fetchOptions: { headers },
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
