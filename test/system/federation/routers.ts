// Two routers that people put in front of subgraphs, each as a function from a query to its answer.
// They reach the subgraphs over HTTP at the addresses that the supergraph names.
import { createHash } from 'node:crypto';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { type DocumentNode, type OperationDefinitionNode, parse, print } from 'graphql';
import type { Answer } from '../../support.ts';

export interface Router {
  ask(query: string, authorization?: string): Promise<Answer>;
  close(): Promise<void>;
}

type ApolloRequest = Parameters<ApolloGateway['executor']>[0];

/** Passes the caller's token on, as a deployment of Apollo Gateway does it. */
class Passing extends RemoteGraphQLDataSource {
  override willSendRequest({
    request,
    context,
  }: Parameters<NonNullable<RemoteGraphQLDataSource['willSendRequest']>>[0]) {
    const { authorization } = context;
    if (typeof authorization === 'string') request.http?.headers.set('authorization', authorization);
  }
}

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Apollo Gateway. */
export async function openApollo(supergraphSdl: string): Promise<Router> {
  // It reports to its maker, and asks clouds for the host that it runs on, unless this is set when
  // it is made.
  process.env.APOLLO_TELEMETRY_DISABLED = '1';
  const gateway = new ApolloGateway({
    supergraphSdl,
    logger: QUIET,
    buildService: ({ url = '' }) => new Passing({ url }),
  });
  const { schema } = await gateway.load({ apollo: {} }).then(() => gateway);
  if (schema === undefined) throw new Error('Apollo Gateway made no schema of the supergraph.');
  return {
    async ask(query, authorization) {
      const document = parse(query);
      const queryHash = createHash('sha256').update(query).digest('hex');
      const request: ApolloRequest = {
        request: { query },
        document,
        source: query,
        queryHash,
        operation: document.definitions[0] as OperationDefinitionNode,
        operationName: null,
        schema,
        schemaHash: '' as ApolloRequest['schemaHash'],
        context: { authorization },
        logger: QUIET,
        cache: { get: async () => undefined, set: async () => undefined, delete: async () => undefined },
        metrics: {},
        overallCachePolicy: undefined,
      };
      // As a client would get it: errors as JSON.
      return JSON.parse(JSON.stringify(await gateway.executor(request))) as Answer;
    },
    close: () => gateway.stop(),
  };
}

interface SubgraphRequest {
  readonly document: DocumentNode;
  readonly variables?: unknown;
  readonly extensions?: { readonly headers?: Record<string, string> };
}

/** Sends what Hive Gateway planned for a subgraph, with the headers that it chose. */
const getSubgraphExecutor =
  ({ transportEntry }: { transportEntry: { location?: string } }) =>
  async ({ document, variables, extensions }: SubgraphRequest) => {
    const response = await fetch(transportEntry.location ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...extensions?.headers },
      body: JSON.stringify({ query: print(document), variables }),
    });
    return response.json();
  };

/** Hive Gateway. */
export async function openHive(supergraph: string): Promise<Router> {
  const runtime = createGatewayRuntime({
    supergraph,
    logging: false,
    // The runtime comes without a way to speak HTTP to its subgraphs.
    transports: { http: { getSubgraphExecutor } },
    propagateHeaders: {
      fromClientToSubgraphs({ request }) {
        return { authorization: request.headers.get('authorization') };
      },
    },
  });
  return {
    async ask(query, authorization) {
      const response = await runtime.fetch('http://router.test/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify({ query }),
      });
      return (await response.json()) as Answer;
    },
    close: async () => runtime[Symbol.asyncDispose](),
  };
}
