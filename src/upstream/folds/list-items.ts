// Reads the items of a page of List, and checks that the page agrees with its counts.
import type { UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { drifted } from '../http/validate-response.ts';
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

/** The id of the task at a position (spec, "Identifiers and envelopes"). */
export const taskIdAt = (batchId: string, index: number): string =>
  `${batchId}-${String(index).padStart(5, '0')}`;

/** How many items stand before a page; undefined when that is not known. */
const countBefore = ({ before, cursor }: ItemsRequest): number | undefined =>
  before ?? (cursor === undefined ? 0 : undefined);

/**
 * Reads the items of a page. An unreadable one has an error, the id that follows from its place,
 * and an unknown state.
 *
 * @param onFailure - given the fault of an unreadable item
 * @throws UpstreamError UPSTREAM_DRIFT when none is readable, or one has no id and no known place
 */
export function readItems(
  batchId: string,
  items: readonly unknown[],
  request: ItemsRequest,
  onFailure?: Upstream['onFailure'],
): ListItem[] {
  const before = countBefore(request);
  let unreadableCount = 0;
  return items.map((raw, i): ListItem => {
    const parsed = listItem.safeParse(raw);
    if (parsed.success) return parsed.data;
    unreadableCount += 1;
    const [issue] = parsed.error.issues;
    const path = ['$.items', i, ...(issue?.path ?? [])].map(String).join('.');
    const fault = drifted('list', path, issue?.message ?? 'unreadable');
    const fields = isFields(raw) ? raw : {};
    const placedId = before === undefined ? undefined : taskIdAt(batchId, before + i);
    const task_id = id.safeParse(fields.task_id).data ?? placedId;
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

/** A page whose items are not read yet. */
type UnreadPage = Pick<BatchPage, 'counts' | 'cursor'> & { readonly items: readonly unknown[] };

/** The error of a page whose size contradicts its counts; undefined when they agree. */
export function findSizeFault(page: UnreadPage, request: ItemsRequest): UpstreamError | undefined {
  const before = countBefore(request);
  if (before === undefined) return undefined;
  const seen = before + page.items.length;
  const { total } = readCounts(page.counts);
  if (seen === total || (seen < total && page.cursor != null)) return undefined;
  return drifted('list', '$.items', `${total} items by the counts, and ${seen} on the pages`, true);
}
