// FoldAtlas for Apollo Client 4, complete: copy this file and possible-types.ts into your project.
//   npm install @apollo/client graphql graphql-ws rxjs
import {
  ApolloClient,
  ApolloLink,
  HttpLink,
  InMemoryCache,
  type TypePolicies,
  type TypePolicy,
} from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode, print } from 'graphql';
import { createClient } from 'graphql-ws';
import { possibleTypes } from './possible-types.js';

/**
 * An entity by its natural key. A query that does not select the key is answered all the same; the
 * cache then keeps the entity at the place where it was read.
 */
const entity = (key: string): TypePolicy => ({
  keyFields: (_, { storeObject }) => (storeObject[key] === undefined ? false : [key]),
  // Both forms of one entity become one: the same place always has the same entity.
  merge: true,
});

export const typePolicies: TypePolicies = {
  Protein: entity('hash'),
  Cluster: entity('representativeHash'),
  Feature: entity('index'),
  Batch: entity('batchId'),
  Task: entity('taskId'),
  UniprotEntry: entity('accession'),
  BulkLookup: entity('lookupId'),
  // Parts of an object: what one query reads of them does not replace what another has read.
  ...Object.fromEntries(
    ['Plddt', 'Structure', 'Thumbnail', 'Taxonomy', 'FeatureStatistics', 'FoldResult', 'FoldScores'].map(
      (type) => [type, { merge: true }],
    ),
  ),
  Query: {
    fields: {
      // `protein(hash:)` of a protein in a list needs no request, and null is an answer.
      protein: (kept, { args, toReference }) =>
        kept !== undefined || args?.foldOnMiss === true
          ? kept
          : toReference({ __typename: 'Protein', hash: String(args?.hash).toLowerCase() }),
    },
  },
};

const sha256 = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

export interface FoldAtlasOptions {
  /** Such as `http://127.0.0.1:4000/graphql`. */
  readonly url: string;
  /** Such as `{ authorization: 'Bearer …' }`, which folds need. */
  readonly headers?: Record<string, string>;
  /** A WebSocket for Node.js before 22: `import WebSocket from 'ws'`. Browsers have their own. */
  readonly webSocketImpl?: unknown;
  /** Whether queries go by GET with their hash alone, so that a CDN can keep public answers. */
  readonly persistedQueries?: boolean;
}

/**
 * Queries and mutations over HTTP with `@defer`, subscriptions over WebSocket, one cache for all.
 * Give queries `errorPolicy: 'all'`: what could not be loaded is then null, and the rest of the
 * answer is kept.
 */
export function createFoldAtlasClient(options: FoldAtlasOptions): ApolloClient {
  const { url, headers = {}, webSocketImpl, persistedQueries = false } = options;
  const overHttp = new HttpLink({ uri: url, headers });
  const http = persistedQueries
    ? new PersistedQueryLink({
        generateHash: (document) => sha256(print(document)),
        useGETForHashedQueries: true,
      }).concat(overHttp)
    : overHttp;
  // Opened by the first subscription; a program without any needs no WebSocket.
  let overWebSocket: GraphQLWsLink | undefined;
  const openWebSocket = () =>
    new GraphQLWsLink(
      createClient({
        url: url.replace(/^http/, 'ws'),
        connectionParams: headers,
        retryAttempts: 10,
        shouldRetry: () => true,
        ...(webSocketImpl === undefined ? {} : { webSocketImpl }),
      }),
    );
  const subscriptions = new ApolloLink((operation) => {
    overWebSocket ??= openWebSocket();
    return overWebSocket.request(operation);
  });
  return new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      subscriptions,
      http,
    ),
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
    // A card shows before its similarity search (06-protein-card-deferred.graphql).
    incrementalHandler: new Defer20220824Handler(),
  });
}
