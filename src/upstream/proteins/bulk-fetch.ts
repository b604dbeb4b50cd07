// One bulk look-up: posts it, polls the job if the upstream starts one, and reads the archive as it
// arrives.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedCall } from '../../async/single-flight.ts';
import { ArchiveError, type ArchiveLimits, archiveLimits } from '../archive/archive-limits.ts';
import { readBulkArchive } from '../archive/bulk.ts';
import * as atlas from '../atlas-bulk.ts';
import { networkFailure, UpstreamError } from '../errors.ts';
import { type Downloads, download } from '../http/download.ts';
import type { StreamedResponse, Upstream } from '../http/upstream-client.ts';
import { type FeatureRow, rankingOf, rowsOf } from './activations.ts';
import { isComplete, type ReadBulk, stampedNow, wantedRows } from './merge-answers.ts';
import type { BulkCall } from './protein-plan.ts';
import { needsCluster, needsRows, needsStructure, type RequiredParts, topOf } from './required-parts.ts';

const MIN_POLL_INTERVAL_MS = 100;
const MAX_POLL_INTERVAL_MS = 2_000;
/** By how much the pause between polls grows: slower where the service says that the job is nearly done. */
const POLL_GROWTH = { underWay: 1.25, nearlyDone: 1.06 };
const NEARLY_DONE = 0.95;

const failed = (message: string, status?: number): UpstreamError =>
  new UpstreamError(message, { operation: 'bulkJob', code: 'UPSTREAM_UNAVAILABLE', status, retryable: true });

const tooLate = (jobId: string): UpstreamError =>
  new UpstreamError(
    `The upstream's bulk job ${jobId} did not finish within this request's time. ` +
      'Ask for fewer proteins at once, or use startBulkLookup, which waits as long as it takes.',
    { operation: 'bulkJob', code: 'UPSTREAM_TIMEOUT', retryable: true },
  );

/** Polls a job until it has an archive to offer. @returns its signed URL */
async function finishedJob(up: Upstream, jobId: string): Promise<string> {
  for (let pause = MIN_POLL_INTERVAL_MS; ; ) {
    const job = await atlas.bulkJob(up, jobId).catch((error: unknown) => {
      if (!atlas.isJobGone(error)) throw error;
      // The same question again starts another.
      const { status } = error.failure;
      throw failed(`The upstream's bulk job ${jobId} is gone (HTTP ${status}). Try again.`, status);
    });
    const state = (job.status ?? '').toLowerCase();
    // The archive of a cancelled job is whole but holds only some proteins: it proves nothing of
    // the others.
    if (['failed', 'cancelled', 'canceled', 'expired'].includes(state)) {
      throw failed(`The upstream's bulk job ${jobId} ended as ${state}. Try again.`);
    }
    if (job.download_url != null && state !== 'pending') return job.download_url;
    await sleep(pause, undefined, { signal: up.signal });
    const { completed_count: completed, total_count: total } = job;
    const isNearlyDone = completed != null && total != null && completed >= total * NEARLY_DONE;
    pause *= isNearlyDone ? POLL_GROWTH.nearlyDone : POLL_GROWTH.underWay;
    pause = Math.min(pause, MAX_POLL_INTERVAL_MS);
  }
}

/** The archive of a finished job; an expired URL is requested once more. */
async function jobArchive(up: Upstream, downloads: Downloads, jobId: string): Promise<StreamedResponse> {
  for (const last of [false, true]) {
    const answer = await download(up, downloads, await finishedJob(up, jobId));
    if (answer !== null) return answer;
    if (last) break;
  }
  throw failed(
    `The archive of the upstream's bulk job ${jobId} could not be downloaded: its address had expired twice.`,
  );
}

/**
 * Bytes still read after all that is needed, so that the connection can be reused: most archives
 * end there.
 */
const TAIL_BYTES = 256 * 1024;
const TAIL_MS = 1_000;

/**
 * The body of an archive. A class: V8 retains what a nested generator closes over until its next
 * full GC.
 */
class ArchiveBody implements AsyncIterable<Uint8Array> {
  /** Whether it was left before its end. */
  isCut = false;
  private received = 0;
  private most: number;
  private timer: NodeJS.Timeout | undefined;
  private readonly up: Pick<Upstream, 'onBytes'>;
  private readonly answer: StreamedResponse;

  /** @param most - bytes of an honest one */
  constructor(up: Pick<Upstream, 'onBytes'>, answer: StreamedResponse, most: number) {
    this.up = up;
    this.answer = answer;
    this.most = most;
  }
  /** Whether all is there that is needed of it. */
  get isDone(): boolean {
    return this.timer !== undefined;
  }
  /** Ends reading: a short rest is read, else the connection is closed. */
  finish(): void {
    if (this.isDone) return;
    this.most = Math.min(this.most, this.received + TAIL_BYTES);
    this.timer = setTimeout(() => this.answer.body.destroy(), TAIL_MS).unref();
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { body, call } = this.answer;
    this.isCut = true;
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        this.received += chunk.byteLength;
        this.up.onBytes?.(call.operation, chunk.byteLength);
        if (this.received > this.most) {
          if (this.isDone) return;
          throw new ArchiveError(
            'limit',
            `The archive is larger than the ${this.most} bytes that it can have.`,
          );
        }
        yield chunk;
      }
      this.isCut = false;
    } catch (error) {
      if (!this.isDone) throw error;
    } finally {
      clearTimeout(this.timer);
    }
  }
}

/** Proteins whose needs are met while the rest of the archive is still arriving. */
export interface ReadProteins {
  readonly hashes: readonly string[];
  readonly soFar: ReadBulk;
}

/**
 * Reads an archive; of per-residue activations only the wanted rows stay, one protein at a time. It
 * ends when nothing more is needed.
 */
async function readArchive(
  arriving: ArchiveBody,
  limits: ArchiveLimits,
  { needs, asksSequences }: BulkCall,
  each: ReadonlyMap<string, RequiredParts>,
  run: SharedCall,
): Promise<ReadBulk> {
  const rows = new Map<string, ReadonlyMap<number, FeatureRow>>();
  const from = stampedNow('bulk');
  let soFar: ReadBulk | undefined;
  let complete: string[] = [];
  const lacking = new Set(each.keys());
  const parts = await readBulkArchive(arriving, {
    perResidue: needsRows(needs),
    level: needs.level === true,
    hashes: each,
    isDone: () => arriving.isDone,
    limits,
    heldBytes: limits.heldBytes,
    shrink(hash, { perResidue, ...features }) {
      const own = each.get(hash) ?? {};
      if (perResidue !== undefined && needsRows(own)) {
        const { top, proteinLevel: level } = features;
        const ranking = top ?? (level === undefined ? [] : rankingOf(level, topOf(own)));
        rows.set(hash, rowsOf(perResidue, wantedRows(own, ranking)));
      }
      return features;
    },
    onHash(hash, parts) {
      soFar ??= { parts, rows, from, isWhole: false, asksSequences };
      const own = each.get(hash);
      if (own === undefined || !isComplete(hash, own, soFar)) return;
      complete.push(hash);
      lacking.delete(hash);
      if (lacking.size === 0) arriving.finish();
    },
    onPause() {
      if (soFar === undefined || complete.length === 0) return;
      run.publishPart({ hashes: complete, soFar } satisfies ReadProteins);
      complete = [];
    },
  });
  const isWhole = parts.problems.length === 0 && !arriving.isDone && !arriving.isCut;
  return { parts, rows, from, isWhole, asksSequences };
}

/**
 * Looks up at most 500 proteins with exactly the needed members.
 *
 * @param bulk - its needs are the union of `each`
 * @param each - what each protein needs
 * @param run - receives {@link ReadProteins} as soon as their own needs are met
 * @throws UpstreamError without an archive; it names a job that still runs when the time is up
 */
export async function fetchBulk(
  up: Upstream,
  downloads: Downloads,
  bulk: BulkCall,
  each: ReadonlyMap<string, RequiredParts>,
  run: SharedCall,
): Promise<ReadBulk> {
  const { needs, asksSequences } = bulk;
  const started = await atlas.bulk(up, {
    hashes: [...each.keys()],
    top: topOf(needs),
    structure: needsStructure(needs),
    cluster: needsCluster(needs),
    sequence: asksSequences,
    proteinFeatures: needs.features !== undefined || needs.level === true || needs.residues !== undefined,
    residueFeatures: needsRows(needs),
  });
  if (started.kind === 'job') run.onAbort(() => tooLate(started.jobId));
  const answer = started.kind === 'zip' ? started.answer : await jobArchive(up, downloads, started.jobId);
  const limits = archiveLimits({ proteins: each.size, perResidue: needsRows(needs) });
  try {
    const arriving = new ArchiveBody(up, answer, limits.receivedBytes);
    return await readArchive(arriving, limits, bulk, each, run);
  } catch (error) {
    throw networkFailure('bulk', error, up.signal);
  }
}
