// Reads the items of a page of List, and checks that the page agrees with its counts.

import { quote } from '../../plain-text.ts';
import type { UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { drifted } from '../http/validate-response.ts';
import { findRepeat } from '../json/bounded-schemas.ts';
import { isFields } from '../json/is-fields.ts';
import { type BatchPage, type ListItem, listItem } from '../wire.ts';
import { id, normalizeState } from '../wire-values.ts';
import { readCounts } from './batch-states.ts';

export interface ItemsRequest {
  readonly limit: number;
  /** The service's own; the first page when absent. */
  readonly cursor?: string | undefined;
  /** How many items stand before this page, when that is known. */
  readonly before?: number | undefined;
}

/** A page whose items are not read yet. */
type UnreadPage = Pick<BatchPage, 'batch_id' | 'counts' | 'cursor'> & { readonly items: readonly unknown[] };

/** The id of the task at a position (spec, "Identifiers and envelopes"). */
export const taskIdAt = (batchId: string, index: number): string =>
  `${batchId}-${String(index).padStart(5, '0')}`;

/** How many items stand before a page; undefined when that is not known. */
const countBefore = ({ before, cursor }: ItemsRequest): number | undefined =>
  before ?? (cursor === undefined ? 0 : undefined);

/** An id of a task among several (spec, "Identifiers and envelopes"). */
const PLACED_ID = /^(.+)-(\d{5})$/;

/** Which id of an item belongs to another batch; undefined where none does. */
function findForeignId(
  batchId: string,
  total: number,
  { task_id, batch_id }: ListItem,
): { readonly name: string; readonly what: string } | undefined {
  if (batch_id != null && batch_id !== batchId)
    return { name: 'batch_id', what: `expected the batch that was asked for, seen ${quote(batch_id)}` };
  // The id of an only task is opaque.
  const [, ofBatch, index] = total === 1 ? [] : (PLACED_ID.exec(task_id) ?? []);
  if (ofBatch === undefined || (ofBatch === batchId && Number(index) < total)) return undefined;
  return {
    name: 'task_id',
    what: `expected one of the ${total} tasks of batch ${quote(batchId)}, seen ${quote(task_id)}`,
  };
}

/**
 * Reads the items of a page. An unreadable one has an error, the id that follows from its place,
 * and an unknown state.
 *
 * @param onFailure - given the fault of an unreadable item
 * @throws UpstreamError UPSTREAM_DRIFT when none is readable, or one has no id and no known place
 */
function readItems(
  batchId: string,
  { items, counts }: UnreadPage,
  request: ItemsRequest,
  onFailure?: Upstream['onFailure'],
): ListItem[] {
  const before = countBefore(request);
  const { total } = readCounts(counts);
  let unreadableCount = 0;
  return items.map((raw, i): ListItem => {
    const parsed = listItem.safeParse(raw);
    const foreign = parsed.success ? findForeignId(batchId, total, parsed.data) : undefined;
    if (parsed.success && foreign === undefined) return parsed.data;
    unreadableCount += 1;
    const [issue] = parsed.error?.issues ?? [];
    const path = ['$.items', i, ...(issue?.path ?? [foreign?.name ?? ''])].map(String).join('.');
    const fault = drifted('list', path, foreign?.what ?? issue?.message ?? 'unreadable');
    const fields = isFields(raw) ? raw : {};
    const placedId = before === undefined ? undefined : taskIdAt(batchId, before + i);
    const ownId = foreign === undefined ? id.safeParse(fields.task_id).data : undefined;
    const task_id = ownId ?? placedId;
    if (task_id === undefined || unreadableCount === items.length) throw fault;
    onFailure?.(fault);
    const status = typeof fields.status === 'string' ? normalizeState(fields.status) : '';
    return { task_id, status, error: { code: 'UPSTREAM_DRIFT', message: fault.message, raw } };
  });
}

/**
 * The failure of a page with tasks that an earlier one had: the service did not read our cursor.
 */
export const repeatedPage = (): UpstreamError =>
  drifted(
    'list',
    '$.items',
    'a page repeats tasks of an earlier one. The operator has to set UPSTREAM_LIST_FIELDS to the ' +
      'name that the service gives its cursor',
    true,
  );

/** The error of a page without items, before as many as the counts say have come. */
export const emptyPage = ({ counts }: Pick<BatchPage, 'counts'>, before: number): UpstreamError =>
  drifted(
    'list',
    '$.items',
    `expected ${readCounts(counts).total} items by the counts, seen ${before} and a page without any`,
    true,
  );

/** The error of a page whose size contradicts its counts; undefined when they agree. */
function findSizeFault(page: UnreadPage, request: ItemsRequest): UpstreamError | undefined {
  const before = countBefore(request);
  if (before === undefined) return undefined;
  const seen = before + page.items.length;
  const { total } = readCounts(page.counts);
  if (seen === total || (seen < total && page.cursor != null)) return undefined;
  return drifted('list', '$.items', `${total} items by the counts, and ${seen} on the pages`, true);
}

/** @throws UpstreamError UPSTREAM_DRIFT for a page of another batch than was asked for */
export function checkBatchId(batchId: string, { batch_id: seen }: Pick<BatchPage, 'batch_id'>): void {
  if (seen == null || seen === batchId) return;
  throw drifted('list', '$.batch_id', `expected the batch that was asked for, seen ${quote(seen)}`);
}

/**
 * Reads a page: it is of the batch, as long as its counts say, and has each task once.
 *
 * @param onFailure - given the fault of an unreadable item
 * @throws UpstreamError UPSTREAM_DRIFT
 */
export function readPage(
  batchId: string,
  page: UnreadPage,
  request: ItemsRequest,
  onFailure?: Upstream['onFailure'],
): ListItem[] {
  checkBatchId(batchId, page);
  const fault = findSizeFault(page, request);
  if (fault !== undefined) throw fault;
  const items = readItems(batchId, page, request, onFailure);
  const repeat = findRepeat(items, ({ task_id }) => task_id);
  if (repeat < 0) return items;
  const what = `expected each task once, seen ${quote(items[repeat]?.task_id ?? '')} twice`;
  throw drifted('list', `$.items.${repeat}.task_id`, what, true);
}
