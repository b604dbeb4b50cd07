// Documents that clients name instead of sending them: those that the operator lists (trusted
// documents), and those that clients register by their hash (Apollo's automatic persisted queries).
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../../config.ts';
import { httpError, persistedQueryNotFound } from '../../failures/errors.ts';
import type { OperationPlugin } from '../operation-context.ts';
import type { RequestParams } from '../read-request.ts';
import { MAX_DOCUMENT_CHARACTERS } from './document-limits.ts';

const MAX_REGISTERED_CHARACTERS = 4_000_000;

export interface PersistedDocuments {
  readonly plugin: OperationPlugin;
  /**
   * The text of the document that a request sends or names. One that it sends with its hash is
   * registered.
   *
   * @throws GraphQLError (400) when it does neither, the document is not known, or its hash is
   *   another one
   */
  documentText(params: RequestParams): string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The hash of an automatic persisted query. @throws GraphQLError (400) for one of another version
 */
function readHash(persistedQuery: unknown): string | undefined {
  if (persistedQuery == null) return undefined;
  const { version, sha256Hash } = Object(persistedQuery);
  if (version === 1 && typeof sha256Hash === 'string') return sha256Hash;
  throw httpError(
    400,
    '`extensions.persistedQuery` must have `version` 1 and `sha256Hash`, the SHA-256 of the document in hexadecimal.',
  );
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

  function register(hash: string, text: string): void {
    if (sha256(text) !== hash) throw httpError(400, 'PersistedQueryMismatch');
    if (mode !== 'only') registered.set(hash, text);
  }

  return {
    documentText({ query, documentId, extensions }) {
      const hash = readHash(extensions?.persistedQuery);
      if (query != null) {
        if (hash !== undefined) register(hash, query);
        return query;
      }
      const id = documentId ?? hash;
      if (id === undefined)
        throw httpError(400, 'The request names no operation: send `query`, or the id of a persisted one.');
      const text = listed.get(id) ?? listed.get(String(id).replace(/^sha256:/, ''));
      if (text !== undefined) return text;
      if (documentId === undefined && hash !== undefined) {
        const known = registered.get(hash);
        if (known !== undefined) return known;
        throw persistedQueryNotFound();
      }
      throw httpError(400, 'No persisted operation has this id; is the list older than the client?', {
        code: 'PERSISTED_DOCUMENT_NOT_FOUND',
      });
    },
    plugin: {
      // Here and not where requests are read, so that no transport runs anything else.
      onParse({ params: { source }, context: { isOwn } }) {
        if (mode === 'only' && !isOwn && !listedTexts.has(typeof source === 'string' ? source : source.body))
          throw httpError(403, 'This gateway runs only operations that its operator has listed.', {
            code: 'FORBIDDEN',
          });
      },
    },
  };
}
