// Where look-ups are kept, so that they survive a restart and any replica can tell how far they are. What was asked stands
// apart from the progress, because it is large and never changes. It knows no upstream.
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import { type BulkLookup, type BulkRequest, RETENTION_MS } from './lookup.ts';

/** A look-up's progress and the version that it was read at. */
export interface KeptLookup {
  readonly lookup: BulkLookup;
  readonly version: number;
}

export interface LookupStore {
  /** Whether other processes may work on look-ups too. */
  readonly shared: boolean;
  /** Keeps a new look-up, open. */
  add(lookup: BulkLookup, ask: BulkRequest): Promise<number>;
  ask(lookupId: string): Promise<BulkRequest | null>;
  /** Progress; null for an unknown look-up, `same` when it is still at the known version. */
  progress(lookupId: string, known?: number): Promise<KeptLookup | null | 'same'>;
  /** Writes progress. @returns the version; null when somebody else has written */
  save(lookup: BulkLookup, expected: number): Promise<number | null>;
  /** Takes a look-up off the list of those that somebody has to work on. */
  finish(lookupId: string): Promise<void>;
  /** Look-ups that are not finished. */
  open(): Promise<string[]>;
  /** Asks whoever works on it to cancel. */
  requestCancel(lookupId: string): Promise<void>;
  cancelRequested(lookupId: string): Promise<boolean>;
  /** Takes or renews the right to work on a look-up. */
  claim(lookupId: string, owner: string): Promise<boolean>;
  release(lookupId: string, owner: string): Promise<void>;
  /** Forgets a look-up. */
  remove(lookupId: string): Promise<void>;
}

/** How long a process may be silent before another one takes its look-ups over. */
const LEASE_MS = 15_000;

const OPEN = 'bulk/1/open/';
const key = (what: string, lookupId: string): string => `bulk/1/${what}/${lookupId}`;

/** Look-ups over documents. */
export function createLookupStore(documents: LeasedDocumentStore, now: () => number): LookupStore {
  return {
    shared: documents.shared,
    async add(lookup, ask) {
      const { lookupId: id } = lookup;
      const expiresAt = lookup.startedAt + RETENTION_MS;
      await documents.put(key('ask', id), JSON.stringify(ask), { expiresAt });
      const version = await documents.put(key('progress', id), JSON.stringify(lookup), {
        expected: 0,
        expiresAt,
      });
      if (version === null) throw new Error('A new look-up has the id of another one.');
      await documents.put(key('open', id), '', { expiresAt });
      return version;
    },
    async ask(id) {
      const kept = await documents.get(key('ask', id));
      return kept === null || kept === 'same' ? null : (JSON.parse(kept.text) as BulkRequest);
    },
    async progress(id, known) {
      const kept = await documents.get(key('progress', id), known);
      if (kept === null || kept === 'same') return kept;
      return { lookup: JSON.parse(kept.text) as BulkLookup, version: kept.version };
    },
    save: (lookup, expected) =>
      documents.put(key('progress', lookup.lookupId), JSON.stringify(lookup), {
        expected,
        expiresAt: lookup.startedAt + RETENTION_MS,
      }),
    finish: (id) => documents.remove(key('open', id)),
    open: async () => (await documents.keys(OPEN)).map((open) => open.slice(OPEN.length)),
    async requestCancel(id) {
      await documents.put(key('cancel', id), '', { expiresAt: now() + RETENTION_MS });
    },
    cancelRequested: async (id) => (await documents.get(key('cancel', id))) !== null,
    claim: (id, owner) => documents.claim(key('lease', id), owner, LEASE_MS),
    release: (id, owner) => documents.release(key('lease', id), owner),
    async remove(id) {
      for (const what of ['open', 'progress', 'ask', 'cancel']) await documents.remove(key(what, id));
    },
  };
}
