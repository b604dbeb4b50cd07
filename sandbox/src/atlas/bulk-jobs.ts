// Bulk lookups that run as jobs: their rows in the state database, their progress by the clock, and
// their archives, built from the start of the job on and kept in pieces. A job is completed once
// its archive is.
import { randomUUID } from 'node:crypto';
import { ManualClock } from '../clock.ts';
import { archiveMembers } from './bulk-archive.ts';
import type { BulkRequest } from './bulk-request.ts';
import type { AtlasContext } from './context.ts';
import { zipArchive } from './zip.ts';

/** How fast a job goes by the clock, and how long its result is kept. */
export const JOB_LIMITS = {
  msPerProtein: 2,
  proteinsPerStep: 25,
  resultHours: 24,
  urlSeconds: 3600,
} as const;

/** A job as a reader finds it now. */
export interface JobView {
  readonly id: string;
  readonly state: 'pending' | 'completed' | 'cancelled' | 'expired';
  readonly completed: number;
  readonly total: number;
}

/** The jobs of one state database. */
export interface BulkJobs {
  create(request: BulkRequest): string;
  /**
   * Undefined for an unknown id. Under a held clock it waits for the archive of a job that is due.
   */
  view(id: string): Promise<JobView | undefined>;
  /**
   * Ends a pending job after the step in hand; results that are there stay. False for an unknown
   * id.
   */
  cancel(id: string): boolean;
  /** Bytes of the archive of what is completed; built now where that has not happened yet. */
  archiveSize(id: string): Promise<number>;
  /** The archive from `start` to `end` (half-open). */
  archiveBytes(id: string, start: number, end: number): AsyncGenerator<Uint8Array>;
}

interface Job {
  readonly request: BulkRequest;
  readonly startedAt: number;
  /** How many proteins a cancelled job keeps; null when it was not cancelled. */
  readonly kept: number | null;
  /** Bytes of the built archive; null before. */
  readonly size: number | null;
}

const PIECE_BYTES = 1 << 20;

export function createBulkJobs(context: AtlasContext): BulkJobs {
  const { database, clock } = context;
  database.exec(`
    CREATE TABLE IF NOT EXISTS atlas_job (
      id TEXT PRIMARY KEY, request TEXT NOT NULL, started_at INTEGER NOT NULL, kept INTEGER, size INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS atlas_job_piece (
      job TEXT NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (job, start)
    );
  `);
  const add = database.prepare('INSERT INTO atlas_job VALUES (?, ?, ?, NULL, NULL)');
  const find = database.prepare('SELECT * FROM atlas_job WHERE id = ?');
  const keep = database.prepare('UPDATE atlas_job SET kept = ? WHERE id = ?');
  const finish = database.prepare('UPDATE atlas_job SET size = ? WHERE id = ?');
  const clearPieces = database.prepare('DELETE FROM atlas_job_piece WHERE job = ?');
  const addPiece = database.prepare('INSERT INTO atlas_job_piece VALUES (?, ?, ?)');
  const pieceAt = database.prepare(
    'SELECT start, bytes FROM atlas_job_piece WHERE job = ? AND start <= ? ORDER BY start DESC LIMIT 1',
  );
  const building = new Map<string, { size: Promise<number>; stop: AbortController }>();

  const read = (id: string): Job | undefined => {
    const row = find.get(id);
    if (row === undefined) return undefined;
    return {
      request: JSON.parse(String(row.request)),
      startedAt: Number(row.started_at),
      kept: row.kept === null ? null : Number(row.kept),
      size: row.size === null ? null : Number(row.size),
    };
  };

  /** Steps of proteins done by now, were the job not cancelled. */
  const reached = ({ request, startedAt }: Job): number => {
    const { msPerProtein, proteinsPerStep } = JOB_LIMITS;
    const done = Math.floor((clock.now() - startedAt) / msPerProtein);
    const total = request.hashes.length;
    return done >= total ? total : Math.max(0, Math.floor(done / proteinsPerStep) * proteinsPerStep);
  };

  const toView = (id: string, job: Job): JobView => {
    const total = job.request.hashes.length;
    const completed = job.kept ?? reached(job);
    const ended = job.kept !== null || completed === total;
    if (ended && clock.now() >= job.startedAt + JOB_LIMITS.resultHours * 3_600_000) {
      clearPieces.run(id);
      return { id, state: 'expired', completed, total };
    }
    return {
      id,
      state: !ended ? 'pending' : completed === total ? 'completed' : 'cancelled',
      completed,
      total,
    };
  };

  async function build(id: string, job: Job, { signal }: AbortController): Promise<number> {
    const hashes = job.request.hashes.slice(0, job.kept ?? undefined);
    clearPieces.run(id);
    let size = 0;
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    const flush = (): void => {
      if (pendingBytes > 0) addPiece.run(id, size, Buffer.concat(pending));
      size += pendingBytes;
      pending = [];
      pendingBytes = 0;
    };
    const members = archiveMembers(context, { ...job.request, hashes });
    for await (const piece of zipArchive(members, context.wire)) {
      signal.throwIfAborted();
      pending.push(piece);
      pendingBytes += piece.length;
      if (pendingBytes >= PIECE_BYTES) flush();
    }
    flush();
    finish.run(size, id);
    return size;
  }

  /** The size of the job's archive, which is built unless it is already or was before. */
  function computeSize(id: string, job: Job): Promise<number> {
    if (job.size !== null) return Promise.resolve(job.size);
    const under = building.get(id);
    if (under !== undefined) return under.size;
    const stop = new AbortController();
    const size = build(id, job, stop).finally(() => {
      if (building.get(id)?.stop === stop) building.delete(id);
    });
    building.set(id, { size, stop });
    return size;
  }

  /**
   * Builds ahead of the asking; what fails is tried again, and told, when the archive is asked for.
   */
  const buildAhead = (id: string, job: Job): void => void computeSize(id, job).catch(() => undefined);

  return {
    create(request) {
      const id = randomUUID();
      const startedAt = clock.now();
      add.run(id, JSON.stringify(request), startedAt);
      buildAhead(id, { request, startedAt, kept: null, size: null });
      return id;
    },
    async view(id) {
      const job = read(id);
      if (job === undefined) return undefined;
      const view = toView(id, job);
      if (view.state !== 'completed' || job.size !== null) return view;
      if (clock instanceof ManualClock) {
        await computeSize(id, job);
        return view;
      }
      buildAhead(id, job);
      return { ...view, state: 'pending', completed: view.total - 1 };
    },
    cancel(id) {
      const job = read(id);
      if (job === undefined) return false;
      if (toView(id, job).state !== 'pending') return true;
      const done = Math.max(0, (clock.now() - job.startedAt) / JOB_LIMITS.msPerProtein);
      const { proteinsPerStep } = JOB_LIMITS;
      building.get(id)?.stop.abort();
      building.delete(id);
      keep.run(Math.min(job.request.hashes.length, Math.ceil(done / proteinsPerStep) * proteinsPerStep), id);
      return true;
    },
    async archiveSize(id) {
      const job = read(id);
      if (job === undefined) throw new Error(`no job ${id}`);
      return computeSize(id, job);
    },
    async *archiveBytes(id, start, end) {
      for (let at = start; at < end; ) {
        const row = pieceAt.get(id, at);
        if (!(row?.bytes instanceof Uint8Array)) throw new Error(`the archive of job ${id} is gone`);
        const first = Number(row.start);
        const piece = row.bytes.subarray(at - first, end - first);
        if (piece.length === 0) throw new Error(`the archive of job ${id} is cut short`);
        yield piece;
        at += piece.length;
      }
    },
  };
}
