// Documents that clients name instead of sending them: those that the operator lists (trusted
// documents), and those that clients register by their hash (Apollo's automatic persisted queries).
import { useAPQ } from '@graphql-yoga/plugin-apq';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../../config.ts';
import { httpError, persistedQueryNotFound } from '../../errors.ts';
import type { RequestParams } from '../read-request.ts';
import { MAX_DOCUMENT_CHARACTERS } from './document-limits.ts';

const MAX_REGISTERED_CHARACTERS = 4_000_000;

export interface PersistedDocuments {
  /** For requests over HTTP. */
  readonly plugins: readonly Plugin[];
  /**
   * The text of the document that a request sends or names.
   *
   * @throws GraphQLError (400) when it does neither, or the document is not listed
   */
  documentText(params: RequestParams): string;
}

export function createPersistedDocuments({
  PERSISTED_OPERATIONS: mode,
  listedOperations: listed,
}: Pick<Config, 'PERSISTED_OPERATIONS' | 'listedOperations'>): PersistedDocuments {
  const listedTexts = new Set(listed.values());
  const registered = new LRUCache<string, string>({
    maxSize: MAX_REGISTERED_CHARACTERS,
    maxEntrySize: MAX_DOCUMENT_CHARACTERS,
    sizeCalculation: (text) => text.length + 1,
  });
  const store = {
    // The plugin's own error has status 404, which clients of plain JSON do not read.
    async get(hash: string) {
      const text = listed.get(hash) ?? registered.get(hash);
      if (text === undefined) throw persistedQueryNotFound();
      return text;
    },
    async set(hash: string, text: string) {
      if (mode !== 'only') registered.set(hash, text);
    },
  };

  function documentText({ query, documentId, extensions }: RequestParams): string {
    if (query != null) return query;
    const { version, sha256Hash } = extensions?.persistedQuery ?? {};
    const id = documentId ?? sha256Hash;
    if (id === undefined)
      throw httpError(400, 'The request names no operation: send `query`, or the id of a persisted one.');
    const text = listed.get(id) ?? listed.get(String(id).replace(/^sha256:/, ''));
    if (text !== undefined) return text;
    if (documentId === undefined && version === 1) throw persistedQueryNotFound();
    throw httpError(400, 'No persisted operation has this id; is the list older than the client?', {
      code: 'PERSISTED_DOCUMENT_NOT_FOUND',
    });
  }

  const useListedDocuments: Plugin = {
    onParams({ params, setParams }) {
      if (params.query == null) setParams({ ...params, query: documentText(params) });
    },
    // Here and not where requests are read, so that no transport runs anything else.
    onParse({ params: { source } }) {
      if (mode === 'only' && !listedTexts.has(typeof source === 'string' ? source : source.body))
        throw httpError(403, 'This gateway runs only operations that its operator has listed.', {
          code: 'FORBIDDEN',
        });
    },
  };

  const { onParams: onRegisteredDocument } = useAPQ({ store });
  const useRegisteredDocuments: Plugin = {
    // Most requests name no document; for these the asynchronous hook is not called.
    onParams: (payload) =>
      payload.params.extensions?.persistedQuery === undefined ? undefined : onRegisteredDocument?.(payload),
  };

  return { plugins: [useRegisteredDocuments, useListedDocuments], documentText };
}
