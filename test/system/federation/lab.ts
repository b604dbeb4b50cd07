// A second subgraph for tests of the first: a laboratory's samples, each of a protein of the Atlas
// and perhaps with a fold. A real GraphQL server on loopback; it writes down who asks.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';

/** One request that a subgraph got. */
export interface SeenRequest {
  readonly authorization: string | undefined;
}

export interface Served {
  readonly url: string;
  /** Requests so far, oldest first. */
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** Anything that answers HTTP requests as Node gives them. */
type Listener = Parameters<typeof createServer>[1];

/** Serves GraphQL on a free port of loopback and writes down who asks. */
export async function serve(listener: NonNullable<Listener>): Promise<Served> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    seen.push({ authorization: request.headers.authorization });
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Sample {
  readonly barcode: string;
  readonly proteinHash: string;
  readonly batchId: string | null;
}

const TYPES = `
  type Query { samples: [Sample!]! node(id: ID!): Node }
  interface Node { id: ID! }
  type Cluster implements Node KEY_CLUSTER { id: ID! }
  type Sample KEY_BARCODE { barcode: ID! protein: Protein fold: Batch }
  type Protein KEY_HASH { hash: ProteinHash! samples: [Sample!]! }
  type Batch KEY_BATCH { batchId: ID! }
  scalar ProteinHash
`;

/** The laboratory's part of the composed graph. */
export const LAB_SDL = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
${TYPES.replace('KEY_BARCODE', '@key(fields: "barcode")')
  .replace('KEY_HASH', '@key(fields: "hash")')
  .replace('KEY_CLUSTER', '@key(fields: "id", resolvable: false)')
  .replace('KEY_BATCH', '@key(fields: "batchId", resolvable: false)')}`;

interface Reference {
  readonly __typename: string;
  readonly hash?: string;
  readonly barcode?: string;
}

/** Serves the laboratory. */
export function serveLab(samples: () => readonly Sample[]): Promise<Served> {
  const schema = createSchema<object>({
    typeDefs: `${TYPES.replaceAll(/KEY_\w+/g, '')}
      scalar _Any
      union _Entity = Sample | Protein
      extend type Query { _entities(representations: [_Any!]!): [_Entity]! }`,
    resolvers: {
      Query: {
        samples,
        node: (_: unknown, { id }: { id: string }) => ({ id }),
        _entities: (_: unknown, { representations }: { representations: Reference[] }) =>
          representations.map((one) => ({
            ...samples().find(({ barcode }) => barcode === one.barcode),
            ...one,
          })),
      },
      Sample: {
        protein: ({ proteinHash }: Sample) => ({ hash: proteinHash }),
        fold: ({ batchId }: Sample) => (batchId === null ? null : { batchId }),
      },
      Protein: {
        samples: ({ hash }: Reference) => samples().filter(({ proteinHash }) => proteinHash === hash),
      },
      // It knows of no other type that has an id.
      Node: { __resolveType: () => 'Cluster' },
      _Entity: { __resolveType: ({ __typename }: Reference) => __typename },
    },
  });
  const yoga = createYoga<object>({ schema, logging: false, graphiql: false });
  return serve((request, response) => void yoga(request, response));
}
