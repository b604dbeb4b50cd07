// Chooses the store of shared documents by its URL. It must not know what they hold.

import type { OpenStoreOptions } from '../ledger/open-ledger.ts';
import type { LeasedDocumentStore } from './leased-documents.ts';
import { openRedisDocuments } from './redis-documents.ts';
import { openSqliteDocuments } from './sqlite-documents.ts';

/**
 * Opens the documents.
 *
 * @param storeUrl - `sqlite:PATH` (the folder is made when it is missing), `memory:`, or `redis://…` and `rediss://…`
 */
export const openDocuments = (
  storeUrl: string,
  { now, onError = () => undefined }: OpenStoreOptions = {},
): LeasedDocumentStore =>
  /^rediss?:\/\//.test(storeUrl)
    ? openRedisDocuments(storeUrl, now, onError)
    : openSqliteDocuments(storeUrl, now);
