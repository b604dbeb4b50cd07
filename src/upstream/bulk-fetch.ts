// One bulk look-up from the question to the parts: posts it, follows the job where the upstream makes one of it, reads the
// archive as it arrives. It knows nothing of who asked for which part.
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTurn } from '../large-turns.ts';
import { type FeatureRow, rankingOf, rowsOf } from './activations.ts';
import { type ArchiveLimits, archiveLimits } from './archive/archive-limits.ts';
import { type BulkParts, readBulkArchive } from './archive/bulk.ts';
import type { BulkFeatures } from './archive/bulk-record.ts';
import { ArchiveBody } from './archive-body.ts';
import * as atlas from './atlas.ts';
import { type ByteRing, copyOf, isThere, keepIn, type Place } from './byte-ring.ts';
import { type Downloads, download } from './download.ts';
import { UpstreamError } from './errors.ts';
import type { Answer, Upstream } from './http.ts';
import { signalOf } from './leaving.ts';
import { networkFailure } from './network-failure.ts';
import { now, type ReadBulk, saysAll, wantedRows } from './protein-answers.ts';
import type { Source } from './protein-data.ts';
import { needsRows, type ProteinNeeds, topOf } from './protein-needs.ts';
import type { SharedRun } from './share.ts';

const FIRST_POLL = 100;
const SLOWEST_POLL = 2_000;

const failed = (message: string): UpstreamError =>
  new UpstreamError(message, { operation: 'bulkJob', code: 'UPSTREAM_UNAVAILABLE', retryable: true });

const tooLate = (jobId: string): UpstreamError =>
  new UpstreamError(
    `The upstream's bulk job ${jobId} did not finish within this request's time. Ask for fewer proteins at once, or use startBulkLookup, which waits as long as it takes.`,
    { operation: 'bulkJob', code: 'UPSTREAM_TIMEOUT', retryable: true },
  );

/** Polls a job until it has an archive to offer. @returns its signed URL */
async function finishedJob(up: Upstream, jobId: string): Promise<string> {
  for (let pause = FIRST_POLL; ; pause = Math.min(pause * 1.6, SLOWEST_POLL)) {
    const job = await atlas.bulkJob(up, jobId);
    const state = (job.status ?? '').toLowerCase();
    if (job.download_url != null && !['pending', 'failed', 'expired'].includes(state))
      return job.download_url;
    if (['failed', 'cancelled', 'expired'].includes(state)) {
      throw failed(`The upstream's bulk job ${jobId} ended as ${state}. Try again.`);
    }
    await sleep(pause, undefined, up.signal === undefined ? {} : { signal: signalOf(up.signal) });
  }
}

/** The archive of a finished job; its URL is asked for once more when it has expired. */
async function jobArchive(up: Upstream, downloads: Downloads, jobId: string): Promise<Answer> {
  for (const last of [false, true]) {
    const answer = await download(up, downloads, await finishedJob(up, jobId));
    if (answer !== null) return answer;
    if (last) break;
  }
  throw failed(
    `The archive of the upstream's bulk job ${jobId} could not be downloaded: its address had expired twice.`,
  );
}

/** Bytes, each piece shown as it passes. */
async function* shown(
  source: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    onChunk(chunk);
    yield chunk;
  }
}

/** Bytes of an archive that may be kept as it came. */
const MOST_KEPT = 1024 ** 2;

/** An archive as it came, to be read again. */
export interface Archive {
  readonly hashes: readonly string[];
  /** What was asked for. */
  readonly needs: ProteinNeeds;
  readonly byteLength: number;
  /** Moves its bytes to where they may stay. */
  moveTo(ring: ByteRing): void;
  /** Whether others have not taken the place of its bytes. */
  isThere(): boolean;
  /** @returns undefined where others have */
  read(): Promise<ReadBulk | undefined>;
}

/** Whether an archive for these needs may be kept as it came: structures and activations along the sequence are too large for that. */
export const isKeepable = (needs: ProteinNeeds): boolean =>
  needs.structure !== true && needs.scores !== true && !needsRows(needs);

class ArrivedArchive implements Archive {
  readonly hashes: readonly string[];
  readonly needs: ProteinNeeds;
  readonly byteLength: number;
  private readonly settings: Upstream['settings'];
  private readonly from: Source;
  private pieces: readonly Uint8Array[];
  private place: Place | undefined;

  constructor(
    { settings }: Upstream,
    hashes: readonly string[],
    needs: ProteinNeeds,
    from: Source,
    pieces: readonly Uint8Array[],
    byteLength: number,
  ) {
    this.settings = settings;
    this.hashes = hashes;
    this.needs = needs;
    this.from = from;
    this.pieces = pieces;
    this.byteLength = byteLength;
  }
  moveTo(ring: ByteRing): void {
    this.place ??= keepIn(ring, this.pieces);
    this.pieces = [];
  }
  isThere(): boolean {
    return this.place !== undefined && isThere(this.place);
  }
  async read(): Promise<ReadBulk | undefined> {
    const { needs, from } = this;
    const up = { settings: this.settings };
    const bytes = this.place && copyOf(this.place);
    if (bytes === undefined) return undefined;
    const nobody = () => undefined;
    const body = Readable.from([bytes]);
    const { parts, rows } = await readArchive(up, body, { needs, each: new Map(), onProteins: nobody });
    return { parts, rows, from };
  }
}

/** Gathers the pieces of an archive while they are few. */
function openKeeper() {
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  return {
    take: (piece: Uint8Array): void => {
      byteLength += piece.length;
      if (byteLength <= MOST_KEPT) pieces.push(piece);
      else pieces.length = 0;
    },
    archive(up: Upstream, hashes: readonly string[], needs: ProteinNeeds, from: Source): Archive | undefined {
      if (byteLength > MOST_KEPT) return undefined;
      return new ArrivedArchive(up, hashes, needs, from, pieces, byteLength);
    },
  };
}

/** What was read of an archive, and where it may be kept, itself. */
export interface FetchedBulk extends ReadBulk {
  readonly archive: Archive | undefined;
}

/** Proteins of which an archive has said all that is needed, while the rest of it is still coming. */
export interface ReadProteins {
  readonly hashes: readonly string[];
  readonly soFar: ReadBulk;
}

/** What is wanted of an archive. */
interface Wanted {
  readonly needs: ProteinNeeds;
  readonly each: ReadonlyMap<string, ProteinNeeds>;
  readonly onProteins: (proteins: ReadProteins) => void;
  readonly limits?: ArchiveLimits;
  /** Where it comes from, to be told when nothing more is needed. */
  readonly arriving?: ArchiveBody;
}

/** Reads an archive; of activations along the sequence only the wanted rows stay, one protein at a time. */
async function readArchive(
  { settings: { mapping }, onAnswer, looksAt }: Pick<Upstream, 'settings' | 'onAnswer' | 'looksAt'>,
  body: AsyncIterable<Uint8Array>,
  { needs, each, onProteins, limits, arriving }: Wanted,
): Promise<ReadBulk> {
  const rows = new Map<string, ReadonlyMap<number, FeatureRow>>();
  const from = now('bulk');
  const shrink = (hash: string, features: BulkFeatures): BulkFeatures => {
    const { perResidue, ...rest } = features;
    const own = each.get(hash) ?? {};
    if (perResidue !== undefined && needsRows(own)) {
      const ranking =
        rest.top ?? (rest.proteinLevel === undefined ? [] : rankingOf(rest.proteinLevel, topOf(own)));
      rows.set(hash, rowsOf(perResidue, wantedRows(own, ranking)));
    }
    return rest;
  };
  let soFar: ReadBulk | undefined;
  let complete: string[] = [];
  const lacking = new Set(each.keys());
  const onHash = (hash: string, parts: BulkParts): void => {
    soFar ??= { parts, rows, from };
    const own = each.get(hash);
    if (own === undefined || !saysAll(hash, own, soFar)) return;
    complete.push(hash);
    lacking.delete(hash);
    if (lacking.size === 0) arriving?.finish();
  };
  const onPause = (): void => {
    if (soFar === undefined || complete.length === 0) return;
    onProteins({ hashes: complete, soFar });
    complete = [];
  };
  const level = needs.level === true;
  const options = {
    perResidue: needsRows(needs),
    level,
    shrink,
    mapping,
    onAnswer,
    looksAt,
    onHash,
    onPause,
    ...(arriving === undefined ? {} : { hashes: each, isDone: () => arriving.isDone }),
    ...(limits === undefined ? {} : { limits, heldBytes: limits.heldBytes }),
  };
  return { parts: await readBulkArchive(body, options), rows, from };
}

/** Structures that take so much memory while they are read that it matters who else reads. */
const MANY = 50;

/**
 * Looks up at most 500 proteins with exactly the members that are needed.
 *
 * @param needs - the union of `each`
 * @param each - what each protein needs
 * @param run - told of {@link ReadProteins} as soon as their own needs are met
 * @throws UpstreamError when no archive came; one that names the job when it is still running as the caller's time is up
 */
export async function fetchBulk(
  up: Upstream,
  downloads: Downloads,
  needs: ProteinNeeds,
  each: ReadonlyMap<string, ProteinNeeds>,
  run: SharedRun,
): Promise<FetchedBulk> {
  const started = await atlas.bulk(up, {
    hashes: [...each.keys()],
    top: topOf(needs),
    structure: needs.structure === true || needs.scores === true,
    cluster: needs.cluster === true || needs.link === true,
    sequence: needs.sequence === true,
    proteinFeatures: needs.features !== undefined || needs.level === true || needs.residues !== undefined,
    residueFeatures: needsRows(needs),
  });
  if (started.kind === 'job') run.onLeave(() => tooLate(started.jobId));
  const answer = started.kind === 'zip' ? started.answer : await jobArchive(up, downloads, started.jobId);
  const keeper = isKeepable(needs) ? openKeeper() : undefined;
  try {
    const limits = archiveLimits({ proteins: each.size, perResidue: needsRows(needs) });
    const arriving = new ArchiveBody(up, answer, limits.receivedBytes);
    const body = keeper === undefined ? arriving : shown(arriving, keeper.take);
    const isLarge = needs.structure === true && each.size > MANY;
    const read = await readArchive(up, isLarge ? inTurn(body) : body, {
      needs,
      each,
      onProteins: (piece) => run.tell(piece),
      limits,
      arriving,
    });
    const isWhole = read.parts.problems.length === 0 && !arriving.isCut;
    return {
      ...read,
      archive: isWhole ? keeper?.archive(up, [...each.keys()], needs, read.from) : undefined,
    };
  } catch (error) {
    throw networkFailure('bulk', error, up.signal);
  }
}
