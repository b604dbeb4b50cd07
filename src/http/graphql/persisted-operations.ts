// Finds the document of a request: its own text, a listed one (persisted operations), or one that a
// client registered by its hash (Apollo's automatic persisted queries).
import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { httpError } from './http-error.ts';
import type { OperationParams } from './read-params.ts';

export interface OperationRules {
  /**
   * `off`: no list. `allow`: clients may send the id of a listed operation. `only`: no other
   * operation runs.
   */
  readonly mode: 'off' | 'allow' | 'only';
  /** Documents by id. */
  readonly listed: ReadonlyMap<string, string>;
  /** Whether clients may register documents by their hash. Never with `only`. */
  readonly automatic: boolean;
  /** Characters of a document that may be registered. */
  readonly longest: number;
}

export type PersistedOperations = ReturnType<typeof createPersistedOperations>;

/** Characters of all registered documents together. */
const MAX_CHARACTERS = 4_000_000;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** An answer whose words Apollo's clients know: they then send the text along. */
const apolloError = (message: string): GraphQLError =>
  new GraphQLError(message, {
    extensions: { code: 'BAD_USER_INPUT', retryable: false, http: { status: 400, spec: true } },
  });

/**
 * The hash in Apollo's extension; undefined without one.
 *
 * @throws GraphQLError (400) for another version
 */
function hashOf(extensions: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const given = extensions?.persistedQuery;
  if (typeof given !== 'object' || given === null) return undefined;
  const { version, sha256Hash }: { version?: unknown; sha256Hash?: unknown } = given;
  if (version !== 1 || typeof sha256Hash !== 'string')
    throw httpError(400, '`extensions.persistedQuery` must have version 1 and a sha256Hash.');
  return sha256Hash.toLowerCase();
}

/** Makes what tells which documents run. */
export function createPersistedOperations({ mode, listed, automatic, longest }: OperationRules) {
  const known = new Set(listed.values());
  const registered = new LRUCache<string, string>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (text) => text.length + 64,
  });
  const registers = automatic && mode !== 'only';

  function byId(id: string, query: string | undefined): string {
    const text = listed.get(id) ?? listed.get(id.replace(/^sha256:/, ''));
    if (text === undefined)
      throw httpError(
        400,
        'No persisted operation has this documentId; is the list of the gateway older than the client?',
      );
    if (query !== undefined && query !== text)
      throw httpError(400, '`query` is not the operation that documentId names; send one of them.');
    return text;
  }

  function byHash(hash: string, query: string | undefined): string {
    if (query === undefined) {
      const text = listed.get(hash) ?? registered.get(hash);
      if (text !== undefined) return text;
      throw apolloError(
        mode === 'off' && !registers ? 'PersistedQueryNotSupported' : 'PersistedQueryNotFound',
      );
    }
    if (sha256(query) !== hash) throw httpError(400, 'provided sha does not match query');
    if (registers && query.length <= longest) registered.set(hash, query);
    return query;
  }

  return {
    /**
     * The document text of a request.
     *
     * @throws GraphQLError when the request names none, or an unknown one
     */
    documentOf({ documentId, extensions, query }: OperationParams): string {
      if (documentId !== undefined) return byId(documentId, query);
      const hash = hashOf(extensions);
      if (hash !== undefined) return byHash(hash, query);
      if (query !== undefined) return query;
      throw httpError(
        400,
        'The request names no operation: send `query`, or the `documentId` of a persisted one.',
      );
    },
    /**
     * @throws GraphQLError (FORBIDDEN) when only listed documents may run and this one is not listed
     */
    check(text: string): void {
      if (mode !== 'only' || known.has(text)) return;
      throw httpError(
        403,
        'This gateway runs only operations that its operator has listed; send the documentId of one of them.',
        { code: 'FORBIDDEN' },
      );
    },
  };
}
