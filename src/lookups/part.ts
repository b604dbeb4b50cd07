// Takes one part of a look-up to its end: sends it, follows the job, sends it again when the upstream lost it, cancels it when
// asked. It knows the upstream's bulk operations and nothing of other parts or of where progress is kept.

import * as atlas from '../upstream/atlas-bulk.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { discard } from '../upstream/http/response-body.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { type BulkOptions, type BulkPart, hasEnded, readJob } from './lookup.ts';

/** How often jobs are asked how far they are. Milliseconds. */
export interface BulkSchedule {
  readonly first: number;
  readonly slowest: number;
}

export const defaultBulkSchedule: BulkSchedule = { first: 250, slowest: 5_000 };

/** What a part needs of the look-up that it belongs to. */
export interface PartWork {
  readonly up: Upstream;
  readonly hashes: readonly string[];
  readonly options: BulkOptions;
  readonly pace: BulkSchedule;
  read(): BulkPart;
  change(change: Partial<BulkPart>): void;
  /** Whether somebody asked to cancel the look-up. */
  cancelled(): boolean;
  /** Whether the look-up is too old to go on. */
  tooOld(): boolean;
  /** Waits; shorter when a cancel comes. @throws when the gateway stops */
  pause(milliseconds: number): Promise<void>;
}

/** How often a part is sent at most. */
const MOST_SENT = 4;

/** The body of the bulk call for a part. Sequences always come along: only they prove which proteins exist. */
export const queryOf = (hashes: readonly string[], options: BulkOptions): atlas.BulkQuery => ({
  hashes,
  ...options,
  sequence: true,
});

/** Sends the part. A small one is answered with its archive at once, which is asked for again when somebody downloads it. */
async function send({ up, hashes, options, change, read }: PartWork): Promise<void> {
  const answer = await atlas.bulk(up, queryOf(hashes, options));
  const sent = read().sent + 1;
  if (answer.kind === 'job') {
    change({ jobId: answer.jobId, sent });
    return;
  }
  discard(answer.answer);
  change({ state: 'COMPLETE', completed: read().requested, sent });
}

const fail = ({ change }: PartWork, code: string, message: string): void =>
  change({ state: 'FAILED', problem: { code, message } });

/** The upstream has nothing of the job any more, or nothing came of it. */
function lose(work: PartWork): void {
  if (work.cancelled()) work.change({ state: 'CANCELLED' });
  else if (work.read().sent < MOST_SENT) work.change({ state: 'PENDING', jobId: null, completed: 0 });
  else fail(work, 'UPSTREAM_UNAVAILABLE', `The upstream gave no result, sent ${MOST_SENT} times.`);
}

async function follow(work: PartWork, jobId: string): Promise<void> {
  const part = work.read();
  const read = readJob(part, await atlas.bulkJob(work.up, jobId), work.cancelled());
  if (read === 'lost') lose(work);
  else if (read.state !== part.state || read.completed !== part.completed) work.change(read);
}

/** Asks the upstream to cancel the job; one that is finished keeps its results. */
async function cancelJob({ up, change }: PartWork, jobId: string): Promise<void> {
  change({ state: 'CANCEL_REQUESTED' });
  await atlas.deleteBulkJob(up, jobId);
}

/** Whether the upstream says that there is no such job (any more). */
const isGone = (error: unknown): boolean =>
  error instanceof UpstreamError && (error.failure.status === 404 || error.failure.status === 410);

/** Milliseconds that the upstream asked to wait. */
const askedPause = (error: unknown): number =>
  error instanceof UpstreamError ? (error.failure.retryAfterSeconds ?? 0) * 1000 : 0;

/**
 * Takes a part to its end. A failed read is not a failed part: what may pass is tried again until the look-up is too old.
 *
 * @throws whatever `pause` throws
 */
export async function runPart(work: PartWork): Promise<void> {
  let wait = work.pace.first;
  let asked = false;
  while (!hasEnded(work.read().state)) {
    const { jobId } = work.read();
    let pause = wait;
    try {
      if (work.tooOld()) fail(work, 'UPSTREAM_TIMEOUT', 'It did not finish within 24 hours.');
      else if (jobId === null && work.cancelled()) work.change({ state: 'CANCELLED' });
      else if (jobId === null) await send(work);
      else {
        if (work.cancelled() && !asked) {
          await cancelJob(work, jobId);
          asked = true;
        }
        await follow(work, jobId);
      }
    } catch (error) {
      if (work.up.signal?.aborted === true) throw error;
      if (jobId !== null && isGone(error)) lose(work);
      else if (error instanceof UpstreamError && !error.failure.retryable)
        fail(work, error.failure.code, error.message);
      else pause = Math.max(pause, askedPause(error));
    }
    if (hasEnded(work.read().state)) return;
    await work.pause(pause * (0.8 + 0.4 * Math.random()));
    wait = Math.min(wait * 1.5, work.pace.slowest);
  }
}
