// Submit, List, Status and Cancel as functions from a read body to the `data` of the answer (spec: "Endpoints", Batch
// API). They must not know HTTP: refusals are thrown.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import type { Signer } from '../signing.ts';
import { checkAccount } from './accounts.ts';
import { nextCursor, readCursor } from './cursor.ts';
import type { Queue } from './queue.ts';
import { Refusal } from './refusal.ts';
import { nameChains, type SubmitRequest, tokensOf } from './request/submit.ts';
import { aggregateState, type TaskState } from './states.ts';
import type { BatchRow, BatchStore, TaskRow } from './store.ts';
import type { Caller } from './tokens.ts';

export interface BatchParts {
  readonly store: BatchStore;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly limits: Limits;
  /** How many items the next Submit queues before it breaks off with a 500; undefined: all of them, no 500. */
  readonly breakOff: () => number | undefined;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** @throws Refusal 404 for an unknown batch, and alike for one of another token */
function batchOf(store: BatchStore, { owner }: Caller, batchId: string): BatchRow {
  const batch = store.batch(batchId);
  if (batch === undefined || batch.owner !== owner)
    throw new Refusal(404, `Batch ${shown(batchId)} was not found; check the batch_id that Submit answered.`);
  return batch;
}

/** @throws Refusal 404 for an unknown task; a batch id is told apart */
function taskOf(store: BatchStore, caller: Caller, taskId: string): { task: TaskRow; batch: BatchRow } {
  const task = store.task(taskId);
  const batch = store.batch(task?.batchId ?? taskId);
  if (task !== undefined && batch?.owner === caller.owner) return { task, batch };
  throw batch !== undefined && batch.owner === caller.owner
    ? new Refusal(
        404,
        `${shown(taskId)} is a batch id; read the batch with List, or send the task_id of one of its items.`,
      )
    : new Refusal(
        404,
        `Task ${shown(taskId)} was not found; List shows the task_id of every item of a batch.`,
      );
}

const shown = (id: string): string => JSON.stringify(id.slice(0, 80));

function stateOf(store: BatchStore, { batchId, cancelled, brokenOff }: BatchRow) {
  const counts = store.counts(batchId);
  return { counts, status: aggregateState(counts, { cancelled, brokenOff }) };
}

const times = ({ submittedAt }: BatchRow, limits: Limits) => ({
  expires_at: iso(submittedAt + limits.queueDeadlineMs),
  results_expire_at: iso(submittedAt + limits.retentionMs),
});

const expired = ({ submittedAt }: BatchRow, { clock, limits }: BatchParts): boolean =>
  clock.now() >= submittedAt + limits.retentionMs;

/** Submit: stores the batch and queues it. Repeat is the outer loop, position in the payload the inner one. */
export function submit(parts: BatchParts, caller: Caller, { payload, repeat }: SubmitRequest) {
  const { store, queue, clock, limits, breakOff } = parts;
  const inputs = payload.map((item) => ({ item, tokens: tokensOf(item) }));
  const total = payload.length * repeat;
  checkAccount(parts, caller, repeat * inputs.reduce((sum, { tokens }) => sum + tokens, 0));

  const batchId = randomUUID();
  const submittedAt = clock.now();
  const stopAfter = breakOff();
  const ids =
    total === 1
      ? [`task_${randomBytes(12).toString('hex')}`]
      : Array.from({ length: total }, (_, number) => `${batchId}-${String(number).padStart(5, '0')}`);
  store.dropUntil(submittedAt - limits.retentionMs);
  store.add({
    batchId,
    owner: caller.owner,
    submittedAt,
    brokenOff: stopAfter !== undefined,
    inputs: inputs.map(({ item, tokens }) => ({
      tokens,
      request: JSON.stringify({
        model: item.model,
        input: nameChains(item.all_atom_input),
        includePae: item.include_pae,
        includePairChainsIptm: item.include_pair_chains_iptm,
        includeEmbeddings: item.include_embeddings,
      }),
    })),
    tasks: ids
      .slice(0, stopAfter)
      .map((taskId, number) => ({ taskId, credits: inputs[number % inputs.length]?.tokens ?? 0 })),
  });
  queue.added({ batchId, submittedAt });
  if (stopAfter !== undefined)
    throw new Refusal(
      500,
      'Submission failed; some items may already have been queued. Do not send it again blindly.',
    );

  const [taskId] = ids;
  return {
    message: `${total} ${total === 1 ? 'item' : 'items'} queued; follow the batch with List and its items with Status.`,
    batch_id: batchId,
    total_items: total,
    ...(total === 1 ? { task_id: taskId } : {}),
  };
}

export interface ListRequest {
  readonly batch_id: string;
  readonly include_responses: boolean;
  readonly status?: TaskState | null | undefined;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
}

/** List: the aggregate state and counts, and a page of items when responses are asked for. */
export async function list(parts: BatchParts, caller: Caller, request: ListRequest) {
  const { store, queue, limits } = parts;
  const { batch_id, include_responses, limit } = request;
  const state = request.status ?? undefined;
  const batch = batchOf(store, caller, batch_id);
  const from = readCursor(request.cursor ?? undefined, { batchId: batch_id, state });
  await queue.settled();

  const rows = include_responses ? store.page(batch_id, from, limit, state) : [];
  const last = rows.at(-1);
  const bare = expired(batch, parts);
  return {
    batch_id,
    ...stateOf(store, store.batch(batch_id) ?? batch),
    items: rows.map((row) => (bare ? { task_id: row.taskId, status: row.state } : item(row))),
    cursor: last && rows.length === limit ? nextCursor(last.number + 1, { batchId: batch_id, state }) : null,
    created_at: iso(batch.submittedAt),
    ...times(batch, limits),
  };
}

const errorOf = ({ error }: TaskRow): unknown => (error === null ? undefined : JSON.parse(error));

function item(row: TaskRow) {
  return {
    task_id: row.taskId,
    status: row.state,
    ...(row.state === 'done' ? { response_available: true } : {}),
    ...(row.state === 'failed' ? { error: errorOf(row) } : {}),
  };
}

/** Status of one task; a finished one comes with signed URLs, fresh at each reading. @throws Refusal 404, 410 */
export async function status(parts: BatchParts, caller: Caller, { task_id }: { task_id: string }) {
  const { store, queue, signer, clock, limits } = parts;
  taskOf(store, caller, task_id);
  await queue.settled();
  const { task, batch } = taskOf(store, caller, task_id);
  const when = times(batch, limits);
  if (expired(batch, parts))
    throw new Refusal(
      410,
      `The results of task ${task_id} expired at ${when.results_expire_at}; fold the input again.`,
      {
        members: { results_expire_at: when.results_expire_at },
      },
    );
  if (task.state !== 'done') return { status: task.state, error: errorOf(task), ...when };

  const left = Math.ceil((batch.submittedAt + limits.retentionMs - clock.now()) / 1000);
  const artifactSeconds = Math.min(limits.artifactUrlSeconds, left);
  const artifacts = store.outputNames(task_id).filter((name) => name !== 'response');
  return {
    status: task.state,
    response: signer.sign(`/downloads/results/${task_id}.json`, Math.min(limits.responseUrlSeconds, left)),
    artifacts: Object.fromEntries(
      artifacts.map((name) => [
        name,
        signer.sign(`/downloads/artifacts/${task_id}/${name}.json`, artifactSeconds),
      ]),
    ),
    artifacts_expire_in: artifactSeconds,
    ...when,
  };
}

/** Cancel: queued tasks only. @throws Refusal 404, 409 */
export async function cancel(
  { store, queue }: BatchParts,
  caller: Caller,
  target: { task_id: string } | { batch_id: string },
) {
  await queue.settled();
  if ('task_id' in target) {
    const { task } = taskOf(store, caller, target.task_id);
    const cancelled = store.cancelTask(task.taskId) ? 1 : 0;
    if (cancelled === 0 && task.state !== 'cancelled')
      throw new Refusal(409, `Task ${task.taskId} is ${task.state}; only a queued task can be cancelled.`);
    const message = cancelled === 1 ? 'The task is cancelled.' : 'The task was cancelled already.';
    return { message, task_id: task.taskId, batch_id: task.batchId, cancelled };
  }
  const batch = batchOf(store, caller, target.batch_id);
  const cancelled = store.cancelQueued(batch.batchId);
  const { counts, status: state } = stateOf(store, batch);
  if (cancelled === 0 && state !== 'cancelled')
    throw new Refusal(
      409,
      `Batch ${batch.batchId} has no cancellable work; only queued tasks can be cancelled.`,
    );
  const running = counts.in_progress ?? 0;
  const message =
    cancelled === 0
      ? 'The batch was cancelled already.'
      : `${cancelled} queued ${cancelled === 1 ? 'task is' : 'tasks are'} cancelled${running > 0 ? `; ${running} already running go on` : ''}.`;
  return { message, batch_id: batch.batchId, cancelled };
}
