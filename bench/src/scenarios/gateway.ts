// One FoldAtlas asked as a caller with a token asks it, for what no peer has: batches, streams,
// results.
import { operationBytes } from '../load/connection.ts';
import type { Child } from '../processes/child.ts';
import { askOnce } from './bench.ts';

export const AUTH = { authorization: 'Bearer key-of-the-bench' };

/** Data of an operation. @throws Error when it has errors */
async function data(child: Child, query: string, variables: object = {}): Promise<Record<string, unknown>> {
  const { body } = await askOnce(child.url, operationBytes(query, variables, AUTH));
  const answer = JSON.parse(body.toString()) as { data?: Record<string, unknown> | null; errors?: unknown };
  if (answer.errors !== undefined || answer.data == null)
    throw new Error(`answered ${body.toString('utf8', 0, 800)}`);
  return answer.data;
}

const SUBMIT = `mutation Submit($input: SubmitFoldInput!) { submitFold(input: $input) { __typename ... on FoldSubmitted { batch { batchId } } ... on Problem { message } } }`;

/** The name of an item by its place. */
export const itemName = (n: number): string => `item ${String(n).padStart(4, '0')}`;

/** Submits so many short proteins, each with its name. @returns the batch's id */
export async function submit(child: Child, items: number): Promise<string> {
  const input = {
    label: 'bench',
    items: Array.from({ length: items }, (_, n) => ({
      name: itemName(n),
      chains: [{ protein: { sequence: 'GIVEQCCTSICSLYQLENYCN' } }],
    })),
  };
  const { submitFold: ended } = (await data(child, SUBMIT, { input })) as {
    submitFold: { batch?: { batchId: string }; message?: string };
  };
  if (ended.batch === undefined) throw new Error(`not submitted: ${ended.message}`);
  return ended.batch.batchId;
}

/** A number of /metrics. */
export async function metric(child: Child, name: string): Promise<number> {
  const text = await (await fetch(`${child.url}/metrics`, { headers: { connection: 'close' } })).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}
