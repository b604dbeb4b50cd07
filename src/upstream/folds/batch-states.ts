// Maps the service's states to those of the schema and back, and reads the items of List.

import type { UpstreamError } from '../errors.ts';
import { drifted } from '../http/validate-response.ts';
import { isFields } from '../json/is-fields.ts';
import { type BatchPage, type ListItem, listItem } from '../wire.ts';
import { id, normalizeState } from '../wire-values.ts';

const TASK_WORDS = {
  QUEUED: 'queued',
  IN_PROGRESS: 'in_progress',
  DONE: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const;

/** Where a task is; UNKNOWN for a word that is none of the spec's. */
export type TaskStateName = keyof typeof TASK_WORDS | 'UNKNOWN';

const TASK_STATES: ReadonlyMap<string, TaskStateName> = new Map(
  (Object.keys(TASK_WORDS) as (keyof typeof TASK_WORDS)[]).map((state) => [TASK_WORDS[state], state]),
);

/** The state of a task by the service's word; any word that is not known is UNKNOWN. */
export const taskState = (word: string): TaskStateName => TASK_STATES.get(word) ?? 'UNKNOWN';

/** The word that List filters by; null where it has none. It says done also of expired results. */
export const filterWord = (status: TaskStateName | 'EXPIRED'): string | null =>
  status === 'UNKNOWN' ? null : TASK_WORDS[status === 'EXPIRED' ? 'DONE' : status];

export type TaskCounts = ReturnType<typeof readCounts>;

/** Counts, 0 where the service leaves one out; unknown states count in the total only. */
export function readCounts(counts: Readonly<Record<string, number>>) {
  const of = (state: keyof typeof TASK_WORDS): number => counts[TASK_WORDS[state]] ?? 0;
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    queued: of('QUEUED'),
    inProgress: of('IN_PROGRESS'),
    done: of('DONE'),
    failed: of('FAILED'),
    cancelled: of('CANCELLED'),
  };
}

export interface ItemsRequest {
  readonly limit: number;
  /** The upstream's own; the first page when absent. */
  readonly cursor?: string | undefined;
  /** The service's word for a state: only items in it. */
  readonly status?: string | undefined;
  /** How many items stand before this page, where that is known. */
  readonly before?: number | undefined;
}

/** A page whose items are there and not read yet. */
type ReadPage = Pick<BatchPage, 'counts' | 'cursor'> & { readonly items: readonly unknown[] };

/** The id of the task at a position (spec, "Identifiers and envelopes"). */
export const taskIdAt = (batchId: string, index: number): string =>
  `${batchId}-${String(index).padStart(5, '0')}`;

/**
 * Reads the items of a page. An unreadable one has an error, the id that follows from its place,
 * and an unknown state.
 *
 * @throws UpstreamError UPSTREAM_DRIFT when none is readable, or one has no id and no known place
 */
export function readItems(
  batchId: string,
  items: readonly unknown[],
  { cursor, status, before = cursor === undefined ? 0 : undefined }: ItemsRequest,
): ListItem[] {
  let unreadable = 0;
  return items.map((raw, i): ListItem => {
    const parsed = listItem.safeParse(raw);
    if (parsed.success) return parsed.data;
    unreadable += 1;
    const [issue] = parsed.error.issues;
    const path = ['$.items', i, ...(issue?.path ?? [])].map(String).join('.');
    const fault = drifted('list', path, issue?.message ?? 'unreadable');
    const fields = isFields(raw) ? raw : {};
    const known = id.safeParse(fields.task_id).data;
    const placed = before === undefined || status !== undefined ? undefined : taskIdAt(batchId, before + i);
    const task_id = known ?? placed;
    if (task_id === undefined || unreadable === items.length) throw fault;
    const state = typeof fields.status === 'string' ? normalizeState(fields.status) : '';
    return { task_id, status: state, error: { code: 'UPSTREAM_DRIFT', message: fault.message, raw } };
  });
}

/**
 * The items of a filter: without those in other states, which a service may give that does not filter.
 *
 * @throws UpstreamError UPSTREAM_DRIFT where none is left although the counts have some
 */
export function inState(
  items: ListItem[],
  status: string | undefined,
  counts: BatchPage['counts'],
): ListItem[] {
  if (status === undefined) return items;
  const left = items.filter((item) => item.status === status || !TASK_STATES.has(item.status));
  if (left.length === 0 && items.length > 0 && (counts[status] ?? 0) > 0)
    throw drifted('list', '$.items', `no task is ${status}, as was asked for`, true);
  return left;
}

/** The failure of a page with tasks that an earlier one had: the service did not read our cursor. */
export const repeatedPage = (): UpstreamError =>
  drifted(
    'list',
    '$.items',
    'a page repeats tasks of an earlier one. The operator has to set UPSTREAM_LIST_FIELDS to the ' +
      'name that the service gives its cursor',
    true,
  );

/** What is wrong with the size of a page; undefined when it agrees with the counts. */
export function sizeFault(
  page: ReadPage,
  { cursor, status, before = cursor === undefined ? 0 : undefined }: ItemsRequest,
): UpstreamError | undefined {
  if (before === undefined) return undefined;
  const seen = before + page.items.length;
  // Tasks move while pages of a filter are read: only the first page must match its counts.
  if (status !== undefined && before > 0) return undefined;
  const total = status === undefined ? readCounts(page.counts).total : (page.counts[status] ?? 0);
  const isWrong = (page.cursor == null && seen < total) || (status === undefined && seen > total);
  if (!isWrong) return undefined;
  return drifted('list', '$.items', `${total} items by the counts, and ${seen} on the pages`, true);
}
