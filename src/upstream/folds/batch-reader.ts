// Reads batches and tasks for one request: identical reads are one call, with limited concurrency.
import pLimit from 'p-limit';
import type { Submissions } from '../../store/ledger/submissions.ts';
import { type Enveloped, list, status } from '../batch.ts';
import { UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import type { BatchPage, TaskStatus } from '../wire.ts';
import type { ItemsRequest } from './batch-states.ts';

/** An answer of List, with the warnings that stood around it. */
export interface BatchAnswer extends BatchPage {
  readonly warnings?: readonly string[];
}

export type BatchReader = ReturnType<typeof createBatchReader>;

/** Status and List calls of one request that run at the same time. */
const AT_ONCE = 8;

/** The reader of one request; batches of other callers are unknown, without a call. */
export function createBatchReader(up: Upstream, owned: BatchOwnership) {
  const batches = new Map<string, Promise<BatchAnswer | null>>();
  const pages = new Map<string, Promise<BatchAnswer | null>>();
  const fresh = new Map<string, BatchAnswer>();
  const statuses = new Map<string, Promise<Enveloped<TaskStatus> | null>>();
  const expired = new Map<string, Promise<boolean>>();
  const limited = pLimit(AT_ONCE);
  const listed = async (batchId: string, items?: ItemsRequest): Promise<BatchAnswer | null> => {
    const answer = (await owned.batch(batchId)) ? await list(up, batchId, { items }) : null;
    return answer && { warnings: answer.warnings, ...answer.data };
  };

  const once = <T>(map: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> => {
    const asked = map.get(key);
    if (asked !== undefined) return asked;
    const asking = limited(ask);
    map.set(key, asking);
    return asking;
  };
  const readStatus = (taskId: string): Promise<Enveloped<TaskStatus> | null> =>
    once(statuses, taskId, async () => ((await owned.task(taskId)) ? status(up, taskId) : null));

  return {
    /** State and counts, from the first answer of this request. Null for an unknown batch. */
    batch: (batchId: string) => once(batches, batchId, () => listed(batchId)),
    /** A page of items, together with state and counts. Null for an unknown batch. */
    page(batchId: string, request: ItemsRequest): Promise<BatchAnswer | null> {
      const { status: only } = request;
      const whole = request.cursor === undefined ? fresh.get(batchId) : undefined;
      if (whole !== undefined)
        return Promise.resolve({
          ...whole,
          items: whole.items?.filter((item) => item.status === (only ?? item.status)),
        });
      const key = JSON.stringify([batchId, request.limit, request.cursor, request.status]);
      const page = once(pages, key, () => listed(batchId, request));
      // Any page tells state and counts too, so that they need no call of their own, unless it fails.
      if (!batches.has(batchId)) {
        batches.set(batchId, page);
        page.catch(() => batches.delete(batchId));
      }
      return page;
    },
    /** Answers for a batch that was submitted a moment ago. @param page - with all its tasks */
    prime(batchId: string, page: BatchAnswer) {
      fresh.set(batchId, page);
      batches.set(batchId, Promise.resolve(page));
    },
    /** Null for an unknown task. @throws UpstreamError RESULT_EXPIRED after 31 days */
    status: readStatus,
    /**
     * Whether the results of a batch have expired, by Status of one of its done tasks: they expire
     * together. False where Status cannot be read.
     */
    hasExpired(batchId: string, taskId: string): Promise<boolean> {
      const asked = expired.get(batchId);
      if (asked !== undefined) return asked;
      const asking = readStatus(taskId).then(
        () => false,
        (error: unknown) => error instanceof UpstreamError && error.failure.code === 'RESULT_EXPIRED',
      );
      expired.set(batchId, asking);
      return asking;
    },
    /** Asks Status again next time: its signed URLs have expired. */
    forgetStatus: (taskId: string) => void statuses.delete(taskId),
    /** Asks everything again: something was changed. */
    forgetAll() {
      batches.clear();
      pages.clear();
      fresh.clear();
      statuses.clear();
      expired.clear();
    },
  };
}

/** What one caller may read and cancel. Without a shared key everything: the upstream decides. */
export interface BatchOwnership {
  /** @throws UpstreamError UPSTREAM_UNAVAILABLE when the ledger does not answer */
  batch(batchId: string): Promise<boolean>;
  /** @throws UpstreamError as `batch` */
  task(taskId: string): Promise<boolean>;
}

const undecided = (cause: unknown): never => {
  throw new UpstreamError(
    'The gateway cannot look up at present whose batch this is. Try again in a moment.',
    { operation: 'ledger', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    { cause },
  );
};

/** What the caller of these submissions may read and cancel. */
export function createBatchOwnership(submissions: Submissions): BatchOwnership {
  if (!submissions.keyIsShared) return { batch: async () => true, task: async () => true };
  const has = async (batchId: string | undefined): Promise<boolean> =>
    batchId !== undefined && (await submissions.batch(batchId)) !== null;
  return {
    batch: (batchId) => has(batchId).catch(undecided),
    task: (taskId) =>
      submissions
        .placeOf(taskId)
        .then((place) => has(place?.batchId))
        .catch(undecided),
  };
}
