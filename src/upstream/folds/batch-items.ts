// Reads the items of a List page one by one. A page with fewer items than its counts say is an
// error, not empty.

import type { UpstreamError } from '../errors.ts';
import { drifted } from '../http/validate-response.ts';
import { type BatchPage, type ListItem, listItem } from '../wire.ts';
import { normalizeState } from '../wire-values.ts';

/** The requested page. */
export interface ItemsRequest {
  readonly limit: number;
  /** The upstream's own; the first page when absent. */
  readonly cursor?: string | undefined;
  /** The service's word for a state: only items in it. */
  readonly status?: string | undefined;
  /** How many items stand before this page, where that is known. */
  readonly before?: number | undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A page whose items are there and not read yet. */
type ReadPage = Pick<BatchPage, 'counts' | 'cursor'> & { readonly items: readonly unknown[] };

const totalOf = ({ counts }: ReadPage): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The id of the task at a position (spec, "Identifiers and envelopes"). */
const idAt = (batchId: string, index: number): string => `${batchId}-${String(index).padStart(5, '0')}`;

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
  const read = items.map((raw, i): ListItem => {
    const parsed = listItem.safeParse(raw);
    if (parsed.success) return parsed.data;
    unreadable += 1;
    const [issue] = parsed.error.issues;
    const path = ['$.items', i, ...(issue?.path ?? [])].map(String).join('.');
    const fault = drifted('list', path, issue?.message ?? 'unreadable');
    const fields = isObject(raw) ? raw : {};
    const known = typeof fields.task_id === 'string' ? fields.task_id : undefined;
    const placed = before === undefined || status !== undefined ? undefined : idAt(batchId, before + i);
    const task_id = known ?? placed;
    if (task_id === undefined || unreadable === items.length) throw fault;
    const state = typeof fields.status === 'string' ? normalizeState(fields.status) : '';
    return { task_id, status: state, error: { code: 'UPSTREAM_DRIFT', message: fault.message, raw } };
  });
  return read;
}

/** What is wrong with the size of a page; undefined when it agrees with the counts. */
export function sizeFault(
  page: ReadPage,
  { cursor, status, before = cursor === undefined ? 0 : undefined }: ItemsRequest,
): UpstreamError | undefined {
  if (before === undefined) return undefined;
  const seen = before + page.items.length;
  // Tasks move while pages of a filter are read: only the first page must match its counts.
  if (status !== undefined && before > 0) return undefined;
  const total = status === undefined ? totalOf(page) : (page.counts[status] ?? 0);
  const isWrong = (page.cursor == null && seen < total) || (status === undefined && seen > total);
  if (!isWrong) return undefined;
  return drifted('list', '$.items', `${total} items by the counts, and ${seen} on the pages`, true);
}
