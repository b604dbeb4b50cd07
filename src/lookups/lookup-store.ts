// The store of look-ups, shared by replicas. The request is a document of its own, because it is
// large and never changes.
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import { type BulkLookup, type BulkRequest, RETENTION_MS } from './lookup.ts';

/** The progress of a look-up, and the version that was read. */
export interface KeptLookup {
  readonly lookup: BulkLookup;
  readonly version: number;
}

export interface LookupStore {
  /** Whether other processes may work on look-ups too. */
  readonly shared: boolean;
  /** Adds a new, unfinished look-up. */
  add(lookup: BulkLookup, ask: BulkRequest): Promise<number>;
  ask(lookupId: string): Promise<BulkRequest | null>;
  /** Progress; null for an unknown look-up, `same` when the known version is the newest. */
  progress(lookupId: string, known?: number): Promise<KeptLookup | null | 'same'>;
  /** Writes progress. @returns the version; null after a conflicting write */
  save(lookup: BulkLookup, expected: number): Promise<number | null>;
  /** Removes a look-up from the list of unfinished ones. */
  finish(lookupId: string): Promise<void>;
  /** Unfinished look-ups. */
  open(): Promise<string[]>;
  /** Asks the process that works on it to cancel. */
  requestCancel(lookupId: string): Promise<void>;
  cancelRequested(lookupId: string): Promise<boolean>;
  /** Takes or renews the lease of a look-up. */
  claim(lookupId: string, owner: string): Promise<boolean>;
  release(lookupId: string, owner: string): Promise<void>;
  /** Deletes a look-up. */
  remove(lookupId: string): Promise<void>;
}

/** How long a process may be silent before another one takes over its look-ups. */
const LEASE_MS = 15_000;

const OPEN = 'bulk/1/open/';
const key = (what: string, lookupId: string): string => `bulk/1/${what}/${lookupId}`;

/** Creates the store over a document store. */
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
