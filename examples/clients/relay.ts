// FoldAtlas for Relay, complete: copy this file into your project, and compile with
// relay.config.json beside the examples.
//   npm install relay-runtime graphql-sse && npm install --save-dev relay-compiler
import { createClient } from 'graphql-sse';
import { Environment, type GraphQLResponse, Network, Observable, RecordSource, Store } from 'relay-runtime';

export interface FoldAtlasOptions {
  /** Such as `http://127.0.0.1:4000/graphql`. */
  readonly url: string;
  /** Such as `{ authorization: 'Bearer …' }`, which folds need. */
  readonly headers?: Record<string, string>;
}

/** Queries and mutations by POST, subscriptions over Server-Sent Events. */
export function createFoldAtlasEnvironment({ url, headers = {} }: FoldAtlasOptions): Environment {
  const events = createClient({ url, headers });
  return new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(
      async ({ text }, variables) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query: text, variables }),
        });
        return (await response.json()) as GraphQLResponse;
      },
      ({ text }, variables) =>
        Observable.create((sink) =>
          events.subscribe(
            { query: text ?? '', variables },
            {
              next: (result) => sink.next(result as GraphQLResponse),
              error: (error) => sink.error(error instanceof Error ? error : new Error(JSON.stringify(error))),
              complete: () => sink.complete(),
            },
          ),
        ),
    ),
  });
}
