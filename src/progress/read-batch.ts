// Reads a batch for a poll: state and counts, and the tasks when they have changed.
import { list, listPages } from '../upstream/batch.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { ItemsRequest } from '../upstream/folds/list-items.ts';
import type { Upstream } from '../upstream/http/call.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import { hasMoved, needsTasks, type ReadFailure, type Reading, type Snapshot } from './snapshot.ts';

export const toReadFailure = (error: unknown): ReadFailure =>
  error instanceof UpstreamError
    ? error
    : {
        message: 'The batch could not be read.',
        failure: { operation: 'list', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      };

const toUnknownBatch = (batchId: string): UpstreamError =>
  new UpstreamError(`There is no batch ${JSON.stringify(batchId.slice(0, 60))} of this caller.`, {
    operation: 'list',
    code: 'NOT_FOUND',
    status: 404,
    retryable: false,
  });

async function readPage(up: Upstream, batchId: string, items?: ItemsRequest): Promise<BatchPage> {
  const answer = await list(up, batchId, { items });
  if (answer === null) throw toUnknownBatch(batchId);
  return answer.data;
}

/** State and counts are those of the first page; the next poll sees changes during the read. */
async function readAllItems(up: Upstream, batchId: string): Promise<Reading> {
  let first: BatchPage | null = null;
  const all: ListItem[] = [];
  for await (const { page, items } of listPages((request) => readPage(up, batchId, request))) {
    first ??= page;
    all.push(...items);
  }
  if (first === null) throw toUnknownBatch(batchId);
  return { page: first, items: all };
}

/**
 * Reads state and counts, and tasks that have changed. Tasks that cannot be read hide nothing else.
 *
 * @param withTasks - whether a subscriber needs the changed tasks
 * @throws UpstreamError also for an unknown batch
 */
export async function readBatch(
  up: Upstream,
  batchId: string,
  before: Snapshot,
  withTasks: boolean,
): Promise<Reading> {
  const page = await readPage(up, batchId);
  const areTasksCurrent = before.areTasksCurrent && !hasMoved(before.page, page);
  const counted: Reading = { page, items: null };
  if (!withTasks || !needsTasks({ page, areTasksCurrent })) return counted;
  return readAllItems(up, batchId).catch((error: unknown) => ({
    ...counted,
    tasksFailure: toReadFailure(error),
  }));
}
