// The record of a bulk look-up, the request and the progress of each part, and its store, which
// replicas share.
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import type { BulkQuery } from '../upstream/atlas-bulk.ts';
import type { BulkJob } from '../upstream/wire.ts';
import { parseTime } from '../upstream/wire-values.ts';

export type BulkState =
  | 'PENDING'
  | 'COMPLETE'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'
  | 'FAILED'
  | 'EXPIRED'
  | 'UNKNOWN';

export type BulkOptions = Omit<BulkQuery, 'hashes'>;

export interface BulkRequest {
  /** In request order, with duplicates. */
  readonly hashes: readonly string[];
  /** The identifier of each, where one is not the hash. */
  readonly requested?: readonly string[];
  readonly options: BulkOptions;
}

export interface BulkPart {
  readonly state: BulkState;
  /** The upstream's job; null before the part is sent, and when the upstream answered at once. */
  readonly jobId: string | null;
  readonly requested: number;
  readonly completed: number;
  /** How often the part was sent: a lost job is sent again. */
  readonly sent: number;
  /** Whether the job of a cancelled part has an archive of what was finished. */
  readonly offersArchive?: boolean;
  /** When the upstream deletes the archive, where it says so. Milliseconds since the epoch. */
  readonly expiresAt?: number | null;
  /** Why it failed; null unless it did. */
  readonly problem: { readonly code: string; readonly message: string } | null;
}

export interface BulkLookup {
  readonly lookupId: string;
  /** The caller in the quota. */
  readonly account: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly requestedCount: number;
  readonly duplicateCount: number;
  readonly cancelRequested: boolean;
  readonly parts: readonly BulkPart[];
}

export const RETENTION_MS = 7 * 24 * 3_600_000;
/** An unfinished part fails after this time. */
export const DEADLINE_MS = 24 * 3_600_000;

const ENDS: ReadonlySet<BulkState> = new Set(['COMPLETE', 'CANCELLED', 'FAILED', 'EXPIRED']);

export const hasEnded = (state: BulkState): boolean => ENDS.has(state);

/** Whether the upstream has an archive of a part, also of a cancelled one where the job says so. */
export const hasArchive = ({ state, offersArchive }: BulkPart): boolean =>
  state === 'COMPLETE' || (state === 'CANCELLED' && offersArchive === true);

export const newPart = (requested: number): BulkPart => ({
  state: 'PENDING',
  jobId: null,
  requested,
  completed: 0,
  sent: 0,
  problem: null,
});

export const completedCount = ({ parts }: BulkLookup): number =>
  parts.reduce((sum, part) => sum + part.completed, 0);

/**
 * The state of the whole, from its parts: a cancelled, failed or expired part shows, and a look-up
 * whose parts all finished before the cancellation is complete.
 */
export function stateOf({ parts, cancelRequested }: BulkLookup): BulkState {
  const states = new Set(parts.map((part) => part.state));
  if (![...states].every(hasEnded)) {
    if (cancelRequested) return 'CANCEL_REQUESTED';
    return states.has('PENDING') ? 'PENDING' : 'UNKNOWN';
  }
  return (['CANCELLED', 'FAILED', 'EXPIRED'] as const).find((state) => states.has(state)) ?? 'COMPLETE';
}

/** What a job makes of its part; a lost job has to be sent again. */
export type JobReading = Pick<BulkPart, 'state' | 'completed' | 'expiresAt' | 'offersArchive'> | 'lost';

const RUNNING = new Set([
  '',
  'pending',
  'queued',
  'running',
  'processing',
  'in_progress',
  'completed',
  'complete',
]);

/** Reads a job's answer: state words differ between deployments, the download URL decides. */
export function readJob(part: BulkPart, job: BulkJob, cancelRequested: boolean): JobReading {
  const word = (job.status ?? '').toLowerCase();
  const completed = Math.min(job.completed_count ?? part.completed, part.requested);
  if (word === 'failed' || word === 'expired') return 'lost';
  if (word === 'cancelled' || word === 'canceled')
    return { state: 'CANCELLED', completed, offersArchive: job.download_url != null };
  if (job.download_url != null && word !== 'pending') {
    const expiresAt = parseTime(job.expires_at)?.getTime() ?? null;
    return { state: 'COMPLETE', completed: part.requested, expiresAt };
  }
  if (cancelRequested) return { state: 'CANCEL_REQUESTED', completed };
  return { state: RUNNING.has(word) ? 'PENDING' : 'UNKNOWN', completed };
}

/** Spec, section Limits. */
const PART_SIZE = 500;
export const MAX_HASHES = 50_000;

/** The different hashes in order of first appearance, in parts of 500. Hashes must be normalised. */
export const chunkHashes = (hashes: readonly string[]): string[][] => {
  const unique = [...new Set(hashes)];
  return Array.from({ length: Math.ceil(unique.length / PART_SIZE) }, (_, part) =>
    unique.slice(part * PART_SIZE, (part + 1) * PART_SIZE),
  );
};

export interface KeptLookup {
  readonly lookup: BulkLookup;
  readonly version: number;
}

/** How long a process may be silent before another one takes over its look-ups. */
const LEASE_MS = 15_000;

const OPEN = 'bulk/1/open/';
const key = (what: string, lookupId: string): string => `bulk/1/${what}/${lookupId}`;

export type LookupStore = ReturnType<typeof createLookupStore>;

export function createLookupStore(documents: LeasedDocumentStore) {
  const read = async (what: string, id: string) => {
    const kept = await documents.get(key(what, id));
    return kept === 'same' ? null : kept;
  };
  return {
    /** Whether other processes may work on look-ups too. */
    shared: documents.shared,
    /** Adds a new, unfinished look-up. */
    async add(lookup: BulkLookup, ask: BulkRequest): Promise<KeptLookup> {
      const { lookupId: id } = lookup;
      const expiresAt = lookup.startedAt + RETENTION_MS;
      await documents.put(key('ask', id), JSON.stringify(ask), { expiresAt });
      await documents.put(key('progress', id), JSON.stringify(lookup), { expiresAt });
      await documents.put(key('open', id), '', { expiresAt });
      return { lookup, version: 1 };
    },
    async ask(id: string): Promise<BulkRequest | null> {
      const kept = await read('ask', id);
      return kept === null ? null : (JSON.parse(kept.text) as BulkRequest);
    },
    async progress(id: string): Promise<KeptLookup | null> {
      const kept = await read('progress', id);
      return kept === null ? null : { lookup: JSON.parse(kept.text) as BulkLookup, version: kept.version };
    },
    /** Writes progress. @returns the version; null after a conflicting write */
    save: (lookup: BulkLookup, expected: number) =>
      documents.put(key('progress', lookup.lookupId), JSON.stringify(lookup), {
        expected,
        expiresAt: lookup.startedAt + RETENTION_MS,
      }),
    finish: (id: string) => documents.remove(key('open', id)),
    open: async () => (await documents.keys(OPEN)).map((open) => open.slice(OPEN.length)),
    async requestCancel(id: string) {
      await documents.put(key('cancel', id), '', { expiresAt: Date.now() + RETENTION_MS });
    },
    cancelRequested: async (id: string) => (await documents.get(key('cancel', id))) !== null,
    claim: (id: string, owner: string) => documents.claim(key('lease', id), owner, LEASE_MS),
    release: (id: string, owner: string) => documents.release(key('lease', id), owner),
    async remove(id: string) {
      for (const what of ['open', 'progress', 'ask']) await documents.remove(key(what, id));
    },
  };
}
