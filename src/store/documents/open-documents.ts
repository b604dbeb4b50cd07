// Chooses the store of shared documents by its URL.

import type { OpenStoreOptions } from '../ledger/open-ledger.ts';
import type { LeasedDocumentStore } from './leased-documents.ts';
import { openRedisDocuments } from './redis-documents.ts';
import { openSqliteDocuments } from './sqlite-documents.ts';

/**
 * Opens the documents.
 *
 * @param storeUrl - `sqlite:PATH` (creates a missing folder), `memory:`, `redis://…` or
 *   `rediss://…`
 */
export const openDocuments = (
  storeUrl: string,
  { now, onError = () => undefined }: OpenStoreOptions = {},
): LeasedDocumentStore =>
  /^rediss?:\/\//.test(storeUrl)
    ? openRedisDocuments(storeUrl, now, onError)
    : openSqliteDocuments(storeUrl, now);
