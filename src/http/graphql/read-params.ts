// Parses the parameters of a GraphQL request from the body of a POST or the query string of a GET (GraphQL
// over HTTP): unknown members are ignored, invalid ones refused. Finds the document: the request's own
// text, a listed one (persisted operations), or one that a client registered by its hash (Apollo's
// automatic persisted queries).
import { isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { isFields } from '../../upstream/json/is-fields.ts';
import { httpError } from '../errors.ts';
import { checkBrackets, checkVariables } from './input-limits.ts';

/** A GraphQL request. Either `query` or `documentId` names the document. */
export interface OperationParams {
  readonly query?: string;
  readonly operationName?: string;
  readonly variables?: Record<string, unknown>;
  readonly extensions?: Record<string, unknown>;
  /** The id of a persisted operation: `documentId`, or what else clients call it. */
  readonly documentId?: string;
}

/** Members for the id of a persisted operation: GraphQL over HTTP's draft, Relay's examples. */
const ID_MEMBERS = ['documentId', 'doc_id'];

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
};

type Members = Readonly<Record<string, unknown>>;

function memberOf<T>(
  members: Members,
  name: string,
  isWanted: (value: unknown) => value is T,
  what: string,
): T | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (isWanted(value)) return value;
  throw httpError(400, `\`${name}\` must be ${what}; this request sends ${kindOf(value)}.`);
}
const isText = (value: unknown): value is string => typeof value === 'string';
const textOf = (members: Members, name: string) => memberOf(members, name, isText, 'a string');
const mapOf = (members: Members, name: string) => memberOf(members, name, isFields, 'a JSON object');

/** Reads the members of a parsed request. @throws GraphQLError (400) when one has the wrong type */
export function readMembers(members: Members): OperationParams {
  const query = textOf(members, 'query');
  const operationName = textOf(members, 'operationName');
  const variables = mapOf(members, 'variables');
  const extensions = mapOf(members, 'extensions');
  checkVariables(variables, 'variables');
  checkVariables(extensions, 'extensions');
  const params: { -readonly [name in keyof OperationParams]: OperationParams[name] } = {};
  if (query !== undefined && query !== '') params.query = query;
  if (operationName !== undefined && operationName !== '') params.operationName = operationName;
  if (variables !== undefined) params.variables = variables;
  if (extensions !== undefined) params.extensions = extensions;
  for (const name of ID_MEMBERS) {
    const documentId = textOf(members, name);
    if (documentId !== undefined) params.documentId ??= documentId;
  }
  return params;
}

const BYTE_ORDER_MARK = '\uFEFF';

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Without the message of the engine, which quotes the text.
    const at = Number(/ at position (\d+)/.exec(String(error))?.[1]);
    const place = at < text.length ? `: see its character ${at + 1}` : '';
    throw httpError(400, `${what} is not valid JSON${place}.`);
  }
}

/**
 * Checks the content type of a POST: JSON in UTF-8. Every type that a form of another site can send
 * without a preflight is refused.
 *
 * @throws GraphQLError (415)
 */
export function checkContentType(contentType: string | null, contentEncoding: string | null): void {
  if (contentType === 'application/json' && contentEncoding === null) return;
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') {
    const sent = type === '' ? 'none' : 'another one';
    throw httpError(415, `Send the request with content-type: application/json; this one has ${sent}.`, {
      headers: { 'accept-post': 'application/json' },
    });
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
    throw httpError(415, 'Send the request in UTF-8; no other charset is read.');
  if (!['', 'identity'].includes((contentEncoding ?? '').trim().toLowerCase()))
    throw httpError(415, 'Send the request without content-encoding; compressed requests are not read.', {
      headers: { 'accept-encoding': 'identity' },
    });
}

/**
 * Reads the body of a POST.
 *
 * @param body - JSON in UTF-8, with or without a byte order mark
 * @throws GraphQLError (400) that says what is wrong with it
 */
export function readJsonBody(body: Uint8Array): OperationParams {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  checkBrackets(bytes);
  if (!isUtf8(bytes)) throw httpError(400, 'The body is not valid UTF-8.');
  const decoded = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  if (text.trim() === '')
    throw httpError(400, 'The body is empty; send a JSON object with the member `query`.');
  const members = parsed(text, 'The body');
  if (Array.isArray(members))
    throw httpError(
      400,
      'Lists of operations are not answered; send each operation as a request of its own, ' +
        'or several root fields in one.',
    );
  if (!isFields(members))
    throw httpError(400, `The body must be a JSON object; this one is ${kindOf(members)}.`);
  return readMembers(members);
}

/**
 * Reads the query string of a GET.
 *
 * @param search - what stands after the question mark, with or without it
 * @throws GraphQLError (400) that says what is wrong with it
 */
export function readSearch(search: string): OperationParams {
  const given = new URLSearchParams(search);
  const members: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', ...ID_MEMBERS]) {
    const value = given.get(name);
    if (value !== null && value !== '') members[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = given.get(name);
    if (value !== null && value !== '') members[name] = parsed(value, `The parameter \`${name}\``);
  }
  return readMembers(members);
}

export interface OperationRules {
  /**
   * `off`: no list. `allow`: clients may send the id of a listed operation. `only`: no other
   * operation runs.
   */
  readonly mode: 'off' | 'allow' | 'only';
  /** Documents by id. */
  readonly listed: ReadonlyMap<string, string>;
  /** Characters of a document that may be registered. */
  readonly longest: number;
}

export type PersistedOperations = ReturnType<typeof createPersistedOperations>;

/** Characters of all registered documents together. */
const MAX_CHARACTERS = 4_000_000;

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
export function createPersistedOperations({ mode, listed, longest }: OperationRules) {
  const known = new Set(listed.values());
  const registered = new LRUCache<string, string>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (text) => text.length + 64,
  });
  const registers = mode !== 'only';

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
      throw apolloError('PersistedQueryNotFound');
    }
    if (createHash('sha256').update(query).digest('hex') !== hash)
      throw httpError(400, 'provided sha does not match query');
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

export type ManifestReading =
  | { readonly operations: ReadonlyMap<string, string> }
  | { readonly problem: string };

/**
 * @param text - `{ "format": "apollo-persisted-query-manifest", "version": 1, "operations": [{
 *   "id", "body" }] }` or `{ id: document }`
 * @returns documents by id, or a sentence that names the problem
 */
export function readManifest(text: string): ManifestReading {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { problem: 'is not valid JSON' };
  }
  if (!isFields(parsed)) return { problem: 'must hold a JSON object' };
  const { format, version, operations } = parsed;
  if (format === undefined) {
    const wrong = Object.entries(parsed).find(([, document]) => typeof document !== 'string');
    if (wrong !== undefined) return { problem: `must map ids to documents; ${wrong[0]} is not text` };
    return { operations: new Map(Object.entries(parsed).map(([id, document]) => [id, String(document)])) };
  }
  if (format !== 'apollo-persisted-query-manifest' || version !== 1 || !Array.isArray(operations))
    return {
      problem: 'must be an apollo-persisted-query-manifest of version 1, or a map of ids to documents',
    };
  const known = new Map<string, string>();
  for (const one of operations) {
    const { id, body } = isFields(one) ? one : {};
    if (!isText(id) || !isText(body)) return { problem: 'holds an operation without an id or a body' };
    known.set(id, body);
  }
  return { operations: known };
}
