// One poll of a batch: counts first, pages of tasks only when the counts changed and a subscriber
// needs tasks.
import { list } from '../upstream/batch.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import { hasMoved, hasNoTaskPage, type Reading, type Snapshot } from './snapshot.ts';

/** The largest page of List (spec, section Limits): two pages hold all tasks of a batch. */
const PAGE = 1000;

const unknownBatch = (batchId: string): UpstreamError =>
  new UpstreamError(`The upstream knows no batch ${batchId} of this caller.`, {
    operation: 'list',
    code: 'BAD_USER_INPUT',
    status: 404,
    retryable: false,
  });

async function listed(
  up: Upstream,
  batchId: string,
  request: Parameters<typeof list>[2],
): Promise<BatchPage> {
  const answer = await list(up, batchId, request);
  if (answer === null) throw unknownBatch(batchId);
  return answer.data;
}

/**
 * All tasks. State and counts are those of the first page; the next poll sees changes during the
 * read.
 */
async function withItems(up: Upstream, batchId: string): Promise<Reading> {
  const first = await listed(up, batchId, { items: { limit: PAGE } });
  const total = Object.values(first.counts).reduce((sum, count) => sum + count, 0);
  const items: ListItem[] = [...(first.items ?? [])];
  for (let cursor = first.cursor; cursor != null && items.length < total; ) {
    const page = await listed(up, batchId, { items: { limit: PAGE, cursor, before: items.length } });
    items.push(...(page.items ?? []));
    cursor = (page.items ?? []).length === 0 ? null : page.cursor;
  }
  return { page: first, items };
}

/**
 * Polls a batch.
 *
 * @param before - the previous snapshot
 * @param tasks - whether a subscriber needs the changed tasks
 * @throws UpstreamError also for an unknown batch
 */
export async function pollBatch(
  up: Upstream,
  batchId: string,
  before: Snapshot,
  tasks: boolean,
): Promise<Reading> {
  const page = await listed(up, batchId, {});
  const moved = hasMoved(before.page, page);
  const stale = tasks && hasNoTaskPage({ ...before, page, sequence: before.sequence + (moved ? 1 : 0) });
  return stale ? withItems(up, batchId) : { page, items: null };
}
