// Yoga with FoldAtlas's own schema and the least that a resolver can do: `checkFold` counts,
// `submitFold` sends, `batch` lists. It checks nothing, remembers nothing and holds no idempotency
// key: what the same bytes cost without what they are sent for.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';
import { Pool } from 'undici';
import { tell } from './setting.ts';

interface Chain {
  readonly protein?: { readonly sequence: string };
  readonly ligand?: { readonly smiles?: string; readonly ccd?: readonly string[] };
}
interface Input {
  readonly label?: string;
  readonly model?: string;
  readonly items: readonly { readonly name?: string; readonly chains: readonly Chain[] }[];
}
interface Listed {
  readonly batch_id: string;
  readonly counts: Record<string, number>;
  readonly items: readonly { task_id: string; status: string }[];
  readonly cursor: string | null;
}

const pool = new Pool(process.env.UPSTREAM_URL ?? '', { connections: 64 });

async function post<T>(operation: string, body: object, authorization: string): Promise<T> {
  const answer = await pool.request({
    method: 'POST',
    path: `/api/v1/batch/${operation}`,
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(body),
  });
  if (answer.statusCode !== 200) throw new Error(`${operation} answered ${answer.statusCode}`);
  return ((await answer.body.json()) as { data: T }).data;
}

const computeLength = ({ chains }: Input['items'][number]): number =>
  chains.reduce((sum, { protein }) => sum + (protein?.sequence.length ?? 0), 0);
const toItem = ({ chains }: Input['items'][number]) => ({
  sequences: chains.map(({ protein, ligand }, n) =>
    protein === undefined
      ? { type: 'ligand', id: `C${n}`, smiles: ligand?.smiles, ccd: ligand?.ccd }
      : { type: 'protein', id: `C${n}`, sequence: protein.sequence },
  ),
});
const readAuthorization = ({ request }: { request: Request }): string =>
  request.headers.get('authorization') ?? '';

const yoga = createYoga({
  schema: createSchema({
    typeDefs: readFileSync(process.env.SCHEMA ?? '', 'utf8'),
    resolverValidationOptions: { requireResolversForResolveType: 'ignore' },
    resolvers: {
      Query: {
        checkFold: (_: unknown, { input: { items } }: { input: Input }) => ({
          ok: true,
          taskCount: items.length,
          totalLength: items.reduce((sum, item) => sum + computeLength(item), 0),
          issues: [],
          warnings: [],
          items: items.map((item, index) => ({
            index,
            name: item.name,
            length: computeLength(item),
            chainCount: item.chains.length,
          })),
        }),
        batch: (_: unknown, { batchId }: { batchId: string }) => ({ batchId }),
      },
      Mutation: {
        submitFold: async (_: unknown, { input }: { input: Input }, context: { request: Request }) => {
          const body = { model: input.model, payload: input.items.map(toItem) };
          const { batch_id: batchId } = await post<Listed>('submit', body, readAuthorization(context));
          return { __typename: 'FoldSubmitted', batch: { batchId } };
        },
      },
      Batch: {
        tasks: async (
          { batchId }: { batchId: string },
          { first }: { first: number },
          context: { request: Request },
        ) => {
          const body = { batch_id: batchId, include_responses: true, limit: first };
          const { items, cursor } = await post<Listed>('list', body, readAuthorization(context));
          return {
            nodes: items.map(({ task_id: taskId, status }) => ({ taskId, status: status.toUpperCase() })),
            pageInfo: { hasNextPage: cursor !== null, endCursor: cursor },
          };
        },
      },
    },
  }),
  graphiql: false,
  landingPage: false,
  logging: false,
});
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => tell((server.address() as AddressInfo).port));
