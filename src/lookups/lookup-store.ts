// The store of look-ups, shared by replicas. The request is a document of its own, because it is
// large and never changes.
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import { type BulkLookup, type BulkRequest, RETENTION_MS } from './lookup.ts';

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
    /** Adds a new, unfinished look-up. @returns its version */
    async add(lookup: BulkLookup, ask: BulkRequest): Promise<number> {
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
      for (const what of ['open', 'progress', 'ask', 'cancel']) await documents.remove(key(what, id));
    },
  };
}
