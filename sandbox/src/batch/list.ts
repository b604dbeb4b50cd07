// Answers List, from a read body to the `data`.
import { nextCursor, readCursor } from './cursor.ts';
import { type BatchParts, expired, findBatch, iso, readState, times, toError } from './lookup.ts';
import type { TaskState } from './states.ts';
import type { TaskRow } from './store.ts';
import type { Caller } from './tokens.ts';

/** The body of List once it was read. */
export interface ListRequest {
  readonly batch_id: string;
  readonly include_responses: boolean;
  readonly status?: TaskState | null | undefined;
  readonly limit: number;
  readonly cursor?: string | null | undefined;
}

/** List: the aggregate state and counts, and a page of items when responses are asked for. */
export async function list(parts: BatchParts, caller: Caller, request: ListRequest) {
  const { store, queue, limits, conventions, wire } = parts;
  const { batch_id, include_responses, limit } = request;
  const state = request.status ?? undefined;
  const batch = findBatch(store, caller, batch_id);
  const from = readCursor(request.cursor ?? undefined, { batchId: batch_id, state });
  await queue.settled();

  const rows = include_responses ? store.page(batch_id, from, limit, state) : [];
  const last = rows.at(-1);
  const bare = expired(batch, parts);
  const page = {
    [wire.listItemsField]: rows.map((row) => ({
      [wire.listTaskIdField]: row.taskId,
      status: row.state,
      ...(bare ? {} : ending(row, parts)),
    })),
    cursor: last && rows.length === limit ? nextCursor(last.number + 1, { batchId: batch_id, state }) : null,
  };
  return {
    ...(conventions.has('listBatchId') ? { batch_id } : {}),
    ...readState(store, store.batch(batch_id) ?? batch),
    ...(include_responses || conventions.has('listEmptyPage') ? page : {}),
    ...(conventions.has('listCreatedAt') ? { created_at: iso(batch.submittedAt) } : {}),
    ...times(batch, limits),
  };
}

/** The fields of an item that tell how its task ended. */
function ending(row: TaskRow, parts: BatchParts) {
  return {
    ...(row.state === 'done' ? { response_available: true } : {}),
    ...(row.state === 'failed' ? { error: toError(row, parts) } : {}),
  };
}
