// The Batch API, one function for each operation. The `Upstream` holds the caller's bearer token.
import * as z from 'zod';
import { quote } from '../plain-text.ts';
import { redact } from '../telemetry/redact.ts';
import { errorText, UpstreamError } from './errors.ts';
import { readCounts } from './folds/batch-states.ts';
import { checkBatchId, emptyPage, type ItemsRequest, readPage, repeatedPage } from './folds/list-items.ts';
import type { Call, Upstream, UpstreamResponse } from './http/call.ts';
import { call, callOrNull } from './http/upstream-client.ts';
import { drifted, readAnyJson, validate } from './http/validate-response.ts';
import { boundedList } from './json/bounded-schemas.ts';
import { isFields } from './json/is-fields.ts';
import * as wire from './wire.ts';
import { MAX_ID_CHARACTERS, maybe, text } from './wire-values.ts';

/** An answer's `data`, with what stood beside it in the envelope. */
export interface Enveloped<T> {
  readonly data: T;
  readonly warnings: readonly string[];
}

/** Warnings of one answer. */
const MAX_WARNINGS = 1000;

const envelope = z.object({
  data: z.unknown().optional(),
  warning_messages: maybe(boundedList(text, MAX_WARNINGS)),
});

/** @throws UpstreamError for an error in a success (spec, "Identifiers and envelopes") */
function refuseError(up: Upstream, { status, operation }: UpstreamResponse, body: unknown): void {
  if (!isFields(body) || body.status !== 'error') return;
  // Data beside the error, such as the id of a batch, are not lost.
  if (isFields(body.data) && Object.keys(body.data).length > 0) return;
  const text = redact(errorText(body) ?? 'it gave no reason', up.token);
  throw new UpstreamError(`The upstream answered ${operation} with HTTP ${status} and an error: ${text}`, {
    operation,
    code: 'UPSTREAM_DRIFT',
    status,
    retryable: false,
  });
}

async function open<S extends z.ZodType>(
  up: Upstream,
  answer: UpstreamResponse,
  schema: S,
): Promise<Enveloped<z.output<S>>> {
  const { operation } = answer;
  const body = await readAnyJson(answer);
  refuseError(up, answer, body);
  const around = validate(operation, envelope, isFields(body) ? body : {});
  const data = typeof around.data === 'object' && around.data !== null ? around.data : body;
  const inside = validate(operation, envelope, isFields(data) ? data : {});
  return {
    data: validate(operation, schema, data),
    warnings: [...new Set([...(around.warning_messages ?? []), ...(inside.warning_messages ?? [])])],
  };
}

/** List and Status only read although they are POST; Submit and Cancel are sent once. */
const READS = new Set(['list', 'status']);

const post = (operation: Call['operation'], body: unknown): Call => ({
  operation,
  api: 'batch',
  method: 'POST',
  path: `/${operation}`,
  isRepeatable: READS.has(operation),
  body,
});

/** Refuses what is no id of the service without a call. @throws UpstreamError BAD_USER_INPUT */
function checkId(operation: string, argument: string, id: string): void {
  const isEmpty = id.trim() === '';
  if (!isEmpty && id.length <= MAX_ID_CHARACTERS) return;
  const fault = isEmpty ? 'is empty' : `has ${id.length} characters`;
  throw new UpstreamError(`\`${argument}\` ${fault}. Give an id as submitFold gave it.`, {
    operation,
    code: 'BAD_USER_INPUT',
    retryable: false,
  });
}

/** Null when the API does not know the id. @throws UpstreamError for any other failure */
async function openOrNull<S extends z.ZodType>(
  up: Upstream,
  request: Call,
  schema: S,
): Promise<Enveloped<z.output<S>> | null> {
  const answer = await callOrNull(up, request);
  return answer && open(up, answer, schema);
}

/**
 * Sent exactly once: a 500 or a broken connection may have queued items.
 *
 * @throws UpstreamError with the status of the refusal; no status means that no answer came
 */
export async function submit(up: Upstream, body: unknown): Promise<Enveloped<wire.Submitted>> {
  return open(up, await call(up, post('submit', body)), wire.submitted);
}

/** The parts of a batch to read: without `items` only its state and counts. */
export interface ListRequest {
  readonly items?: ItemsRequest | undefined;
}

/** @throws UpstreamError UPSTREAM_DRIFT when the size of the page contradicts its counts */
async function listItems(
  up: Upstream,
  batchId: string,
  items: ItemsRequest,
): Promise<Enveloped<wire.BatchPage> | null> {
  const { listLimitField, listCursorField } = up.settings;
  const body = {
    batch_id: batchId,
    include_responses: true,
    [listLimitField]: items.limit,
    ...(items.cursor === undefined ? {} : { [listCursorField]: items.cursor }),
  };
  const answer = await openOrNull(up, post('list', body), wire.itemPage);
  if (answer === null) return null;
  const read = readPage(batchId, answer.data, items, up.onFailure);
  return { ...answer, data: { ...answer.data, items: read } };
}

/** List: aggregate state, counts and optionally one page of items. Null for an unknown batch. */
export async function list(
  up: Upstream,
  batchId: string,
  { items }: ListRequest = {},
): Promise<Enveloped<wire.BatchPage> | null> {
  checkId('list', 'batchId', batchId);
  if (items !== undefined) return listItems(up, batchId, items);
  const body = { batch_id: batchId, include_responses: false };
  const answer = await openOrNull(up, post('list', body), wire.batchPage);
  if (answer !== null) checkBatchId(batchId, answer.data);
  return answer;
}

/** The largest page of List (spec, section Limits): two pages hold all tasks of a batch. */
export const LARGEST_LIST_PAGE = 1000;

/**
 * All tasks of a batch, page by page, each page with the number of tasks before it. Ends with the
 * last task of the counts, or with a null page: List does not know the batch.
 *
 * @param read - reads one page
 * @throws UpstreamError UPSTREAM_DRIFT for a page that repeats tasks, or has none: it would hide
 *   others
 */
export async function* listPages(read: (request: ItemsRequest) => Promise<wire.BatchPage | null>) {
  let cursor: string | null | undefined;
  let before = 0;
  const seen = new Set<string>();
  do {
    const page = await read({ limit: LARGEST_LIST_PAGE, cursor: cursor ?? undefined, before });
    const items = page?.items ?? [];
    for (const { task_id } of items) seen.add(task_id);
    if (seen.size < before + items.length) throw repeatedPage();
    yield { page, items, before };
    before += items.length;
    const isLast = page === null || before >= readCounts(page.counts).total;
    if (!isLast && items.length === 0) throw emptyPage(page, before);
    cursor = isLast ? null : page.cursor;
  } while (cursor != null);
}

/** @throws UpstreamError UPSTREAM_DRIFT for another task than was asked for */
export function checkTaskId(taskId: string, { task_id: seen }: Pick<wire.TaskStatus, 'task_id'>): void {
  if (seen == null || seen === taskId) return;
  throw drifted('status', '$.task_id', `expected the task that was asked for, seen ${quote(seen)}`);
}

/** Status of a task; null for an unknown one. @throws UpstreamError RESULT_EXPIRED after 31 days */
export async function status(up: Upstream, taskId: string): Promise<Enveloped<wire.TaskStatus> | null> {
  checkId('status', 'taskId', taskId);
  const answer = await openOrNull(up, post('status', { task_id: taskId }), wire.taskStatus);
  if (answer !== null) checkTaskId(taskId, answer.data);
  return answer;
}

export type CancelEnding =
  | { readonly kind: 'cancelled'; readonly answer: Enveloped<wire.CancelAnswer> }
  | { readonly kind: 'nothing'; readonly error: UpstreamError }
  | { readonly kind: 'unknown'; readonly error: UpstreamError };

/** Cancel the queued tasks of a batch, or one task. 409 and 404 are endings, not failures. */
export async function cancel(
  up: Upstream,
  target: { task_id: string } | { batch_id: string },
): Promise<CancelEnding> {
  if ('task_id' in target) checkId('cancel', 'taskId', target.task_id);
  else checkId('cancel', 'batchId', target.batch_id);
  try {
    const answer = await call(up, post('cancel', target));
    return { kind: 'cancelled', answer: await open(up, answer, wire.cancelled) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    if (error.failure.status === 409) return { kind: 'nothing', error };
    if (error.failure.isAbsence === true) return { kind: 'unknown', error };
    throw error;
  }
}
