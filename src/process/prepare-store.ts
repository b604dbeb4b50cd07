// Makes the store's files and tables before several processes open them at the same moment, which SQLite does not take well, and
// finds out early that a store cannot be used.
import { openSharedCache } from '../store/cache-open.ts';
import { openDocuments } from '../store/open-documents.ts';
import { openLedger } from '../store/open-ledger.ts';
import { openPrincipalKey } from './principal-key.ts';

export interface StorePlace {
  readonly STORE_URL: string;
  readonly LEDGER_URL: string;
  readonly GATEWAY_SECRET?: string | undefined;
}

/** @throws Error that says why the store cannot be used */
export async function prepareStore(place: StorePlace): Promise<void> {
  const ledger = openLedger(place.LEDGER_URL);
  const documents = openDocuments(place.LEDGER_URL);
  const cache = openSharedCache(place.STORE_URL, () => undefined);
  try {
    await ledger.check();
    await openPrincipalKey(place);
  } finally {
    await Promise.all([ledger.close(), documents.close(), cache?.close()]);
  }
}
