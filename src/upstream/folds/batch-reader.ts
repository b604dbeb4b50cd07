// Reads batches and tasks for one request: identical reads are one call, a few calls at a time.
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { Submissions } from '../../store/ledger/submissions.ts';
import { type Enveloped, list, status } from '../batch.ts';
import { UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import type { BatchPage, TaskStatus } from '../wire.ts';
import type { ItemsRequest } from './list-items.ts';

/** An answer of List, with the warnings that stood around it. */
export interface BatchAnswer extends BatchPage {
  readonly warnings?: readonly string[];
}

/**
 * The batches that one caller may read and cancel. Without a shared key all: the service decides.
 */
export interface BatchOwnership {
  /** @throws what the ledger failed with */
  batch(batchId: string): Promise<boolean>;
  /** @throws as `batch` */
  task(taskId: string): Promise<boolean>;
}

/** Batches and tasks of other callers are unknown, without a call. */
export interface BatchReader {
  /** State and counts, from the first answer of this request. Null for an unknown batch. */
  batch(batchId: string): Promise<BatchAnswer | null>;
  /** A page of items, together with state and counts. Null for an unknown batch. */
  page(batchId: string, request: ItemsRequest): Promise<BatchAnswer | null>;
  /** Answers for a batch that was submitted a moment ago. @param page - with all its tasks */
  prime(batchId: string, page: BatchAnswer): void;
  /** Null for an unknown task. @throws UpstreamError RESULT_EXPIRED after 31 days */
  status(taskId: string): Promise<Enveloped<TaskStatus> | null>;
  /**
   * Whether the results of a batch have expired, by Status of one of its done tasks: they expire
   * together. False when Status cannot be read.
   */
  hasExpired(batchId: string, taskId: string): Promise<boolean>;
  /** Asks Status again next time: its signed URLs have expired. */
  forgetStatus(taskId: string): void;
  /** Asks everything again: a cancellation has changed it. */
  forgetAll(): void;
}

/** Status and List calls of one request that run at the same time. */
const MAX_CONCURRENT = 8;

/** Creates the reader of one request. */
export function createBatchReader(up: Upstream, owned: BatchOwnership): BatchReader {
  const batches = new Map<string, Promise<BatchAnswer | null>>();
  const pages = new Map<string, Promise<BatchAnswer | null>>();
  const submitted = new Map<string, BatchAnswer>();
  const statuses = new Map<string, Promise<Enveloped<TaskStatus> | null>>();
  const expired = new Map<string, Promise<boolean>>();
  const limited = createConcurrencyLimit(MAX_CONCURRENT);

  async function readPage(batchId: string, items?: ItemsRequest): Promise<BatchAnswer | null> {
    const answer = (await owned.batch(batchId)) ? await list(up, batchId, { items }) : null;
    return answer && { warnings: answer.warnings, ...answer.data };
  }

  const readStatus = (taskId: string): Promise<Enveloped<TaskStatus> | null> =>
    once(statuses, taskId, () =>
      limited(async () => ((await owned.task(taskId)) ? status(up, taskId) : null)),
    );

  async function readExpiry(taskId: string): Promise<boolean> {
    try {
      await readStatus(taskId);
      return false;
    } catch (error) {
      return error instanceof UpstreamError && error.failure.code === 'RESULT_EXPIRED';
    }
  }

  return {
    batch: (batchId) => once(batches, batchId, () => limited(() => readPage(batchId))),
    async page(batchId, request) {
      const whole = request.cursor === undefined ? submitted.get(batchId) : undefined;
      if (whole !== undefined) return whole;
      const key = JSON.stringify([batchId, request.limit, request.cursor]);
      const page = once(pages, key, () => limited(() => readPage(batchId, request)));
      // Any page has state and counts too, so that they need no call of their own, unless it fails.
      if (!batches.has(batchId)) {
        batches.set(batchId, page);
        page.catch(() => batches.delete(batchId));
      }
      return page;
    },
    prime(batchId, page) {
      submitted.set(batchId, page);
      batches.set(batchId, Promise.resolve(page));
    },
    status: readStatus,
    hasExpired: (batchId, taskId) => once(expired, batchId, () => readExpiry(taskId)),
    forgetStatus: (taskId) => void statuses.delete(taskId),
    forgetAll() {
      for (const read of [batches, pages, submitted, statuses, expired]) read.clear();
    },
  };
}

/** Returns the promise of an earlier call with the same key. */
function once<T>(promises: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const promise = promises.get(key) ?? load();
  promises.set(key, promise);
  return promise;
}

/** The batches that the caller of these submissions may read and cancel. */
export function createBatchOwnership(submissions: Submissions): BatchOwnership {
  if (!submissions.keyIsShared) return { batch: async () => true, task: async () => true };
  const owns = async (batchId: string | undefined): Promise<boolean> =>
    batchId !== undefined && (await submissions.batch(batchId)) !== null;
  return {
    batch: owns,
    task: async (taskId) => owns((await submissions.findTask(taskId))?.batchId),
  };
}
