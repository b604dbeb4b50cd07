// Sets Cache-Control and ETag of GraphQL responses (and answers 304), and stores public ones in the
// response cache.
import { memoize2 } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  isCompositeType,
  isUnionType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import { createEtag, matchesIfNoneMatch } from '../../etag.ts';
import { createPrivateField } from '../../private-field.ts';
import { publicField } from '../../schema/field-options.ts';
import { REPORT_HEADER } from '../../telemetry/request-record.ts';
import { nodeRequestOf } from '../auth/node-request.ts';
import { toBuffer } from '../graphql/serialize-result.ts';
import { limitCheck } from '../limits/request-limits.ts';
import type { CachedResponse, ResponseStore } from '../response-cache.ts';
import { addVary } from './response-headers.ts';

/** What is absent may come any moment. */
const ABSENT_SECONDS = 60;
/** Seconds that a response is given again at most. */
const MAX_STORED_SECONDS = 60;
const NO_STORE = 'private, no-store';

/** Headers that are the same for every caller. */
const STORED_HEADERS: ReadonlySet<string> = new Set(
  (
    'cache-control content-disposition content-security-policy content-type cross-origin-resource-policy ' +
    'etag referrer-policy vary x-content-type-options x-frame-options x-sandbox'
  ).split(' '),
);
/** Headers that are made anew for each caller. A response with any other header is not stored. */
const PER_REQUEST_HEADERS: ReadonlySet<string> = new Set(
  (
    'access-control-allow-origin access-control-expose-headers content-length ratelimit-limit ' +
    'ratelimit-remaining ratelimit-reset traceresponse x-request-id'
  ).split(' '),
);

/** An answer that may be stored. */
interface StorableAnswer extends Pick<CachedResponse, 'operationName'> {
  readonly seconds: number;
}

const answers = createPrivateField<Request, StorableAnswer>();

const bodies = createPrivateField<Response, string | Buffer<ArrayBuffer>>();

/** Notes the body of a response, so that it need not be read from it. */
export function noteBody<T extends Response>(response: T, body: string | Buffer<ArrayBuffer>): T {
  bodies.set(response, body);
  return response;
}

/**
 * Notes that a file is the same for every caller who may read it.
 *
 * @param response - with its ETag
 * @param seconds - how long it may be stored
 */
export function shareFile(
  request: Request,
  response: Response,
  content: Buffer<ArrayBuffer>,
  seconds: number,
): Response {
  answers.set(request, { seconds, operationName: undefined });
  return noteBody(response, content);
}

const absences = createPrivateField<Request, ReadonlySet<string> | undefined>();

/** Notes the set that takes in what a request finds not to be there. */
export const noteAbsences = (request: Request, found: ReadonlySet<string> | undefined): void =>
  absences.set(request, found);

/** Requests whose answers hold addresses that begin with their Host header. */
const hostDependent = new WeakSet<Request>();

/**
 * Notes that an answer holds an address made of the request's Host header. Shared caches must not
 * store it: they would give the addresses of one client's choice to all.
 */
export const noteHostAddress = (request: Request): void => void hostDependent.add(request);

/** The body that was noted. */
export const bodyOf = (response: Response): string | Buffer | undefined => bodies.get(response);

/**
 * Seconds that a result may be stored; null for one that is not whole.
 * What is not there, such as a protein of a list, shortens it.
 */
function storableSeconds(
  { errors, data }: ExecutionResult,
  seconds: number,
  absent: ReadonlySet<string> | undefined,
): number | null {
  if (errors !== undefined || data == null) return null;
  const isComplete = (absent?.size ?? 0) === 0 && !Object.values(data).includes(null);
  return isComplete ? seconds : Math.min(seconds, ABSENT_SECONDS);
}

/** The storable headers as names and values in turn; null when there is another one. */
function storedHeaders(headers: Headers): string[] | null {
  const stored: string[] = [];
  for (const [name, value] of headers) {
    if (STORED_HEADERS.has(name)) stored.push(name, value);
    else if (!PER_REQUEST_HEADERS.has(name)) return null;
  }
  return stored;
}

export type ResponseCaching = ReturnType<typeof createResponseCaching>;

export function createResponseCaching(config: Config, store: ResponseStore) {
  // With credentials, shared caches must not store responses.
  const { CACHE_RECORDS_SECONDS: recordSeconds, proofNeeded } = config;
  const policyOf = memoize2((schema: GraphQLSchema, document: DocumentNode) =>
    cachePolicy(schema, document, recordSeconds),
  );

  const pendingOf = (serverContext: unknown) => limitCheck(nodeRequestOf(serverContext))?.pending;

  function giveUp(serverContext: unknown): void {
    const pending = pendingOf(serverContext);
    if (pending !== undefined) store.settle(pending, null);
  }

  /** Lets clients store the answer to a GET. @returns its ETag */
  function allowCaching(
    request: Request,
    { headers }: Response,
    { seconds }: StorableAnswer,
    body: string | Buffer,
  ): string {
    const etag = createEtag(body);
    const isPrivate = proofNeeded || hostDependent.has(request);
    headers.set('cache-control', `${isPrivate ? 'private' : 'public'}, max-age=${seconds}`);
    headers.set('etag', etag);
    addVary(headers, ['accept', REPORT_HEADER, ...(proofNeeded ? ['authorization'] : [])]);
    return etag;
  }

  const onExecute: Plugin['onExecute'] = ({ args, context }) => {
    const { request } = context;
    const { schema, document, operationName, variableValues } = args;
    const seconds =
      request.headers.get(REPORT_HEADER) === '1' ? null : policyOf(schema, document)(variableValues ?? {});
    if (seconds === null) return giveUp(context);
    return {
      onExecuteDone({ result }) {
        const kept =
          Symbol.asyncIterator in result ? null : storableSeconds(result, seconds, absences.get(request));
        if (kept === null) return giveUp(context);
        const name = getOperationAST(document, operationName)?.name?.value ?? null;
        answers.set(request, { seconds: kept, operationName: name });
      },
    };
  };

  return {
    /** Notes which answers may be stored. */
    plugin: { onExecute } satisfies Plugin,
    /** Stores a response, and says so in its headers. @returns the response, or a 304 in its place */
    finish(request: Request, response: Response, serverContext: unknown): Response {
      const { headers, status } = response;
      // A file that the client has is stored with the headers of its 304.
      const answer = status === 200 || status === 304 ? answers.get(request) : undefined;
      const body = bodies.get(response);
      let etag: string | undefined;
      if (headers.has('cache-control')) etag = headers.get('etag') ?? undefined;
      else if (answer !== undefined && body !== undefined && request.method === 'GET')
        etag = allowCaching(request, response, answer, body);
      else headers.set('cache-control', NO_STORE);
      const pending = pendingOf(serverContext);
      const stored = answer === undefined || body === undefined ? null : storedHeaders(headers);
      // Concurrent identical requests share a response also where it may not be stored.
      if (pending !== undefined && answer !== undefined && body !== undefined && stored !== null) {
        const { operationName, seconds } = answer;
        const isPublic = headers.get('cache-control')?.includes('public') === true;
        const bytes = typeof body === 'string' ? toBuffer(body) : body;
        const cached = { headers: stored, body: bytes, etag, isPublic, operationName };
        store.settle(pending, cached, Math.min(seconds, MAX_STORED_SECONDS));
      } else giveUp(serverContext);
      if (etag === undefined || body === undefined) return response;
      if (!matchesIfNoneMatch(request.headers.get('if-none-match'), etag)) return response;
      headers.delete('content-length');
      return noteBody(new Response(null, { status: 304, headers }), body);
    },
  };
}

const DAY_SECONDS = 24 * 3600;

type Variables = Readonly<Record<string, unknown>>;

/** Whether a boolean argument is not set: null, false, or a variable without a value. */
function isOff(value: ValueNode, variables: Variables, defaults: ReadonlyMap<string, ValueNode>): boolean {
  if (value.kind === Kind.NULL) return true;
  if (value.kind === Kind.BOOLEAN) return !value.value;
  if (value.kind !== Kind.VARIABLE) return false;
  const given = variables[value.name.value];
  if (given !== undefined) return given === null || given === false;
  const usual = defaults.get(value.name.value);
  return usual === undefined || isOff(usual, {}, new Map());
}

/**
 * The definitions that a field may resolve to: of its type, and of each possible type of an
 * abstract one.
 */
function definitionsOf(
  schema: GraphQLSchema,
  parent: GraphQLCompositeType,
  name: string,
): (GraphQLField<unknown, unknown> | undefined)[] {
  const possible = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [];
  const own = isUnionType(parent) ? [] : [parent];
  return [...own, ...possible].map((type) => type.getFields()[name]);
}

/**
 * Seconds that an answer to a valid document with given variables may be stored; null for not at all.
 * Skipped fields and other operations of the document count, too.
 *
 * @param recordSeconds - CACHE_RECORDS_SECONDS
 */
export function cachePolicy(
  schema: GraphQLSchema,
  document: DocumentNode,
  recordSeconds: number,
): (variables: Variables) => number | null {
  const seconds = { release: DAY_SECONDS, record: recordSeconds };
  let shortest: number | null = DAY_SECONDS;
  const switches: ValueNode[] = [];
  const defaults = new Map<string, ValueNode>();

  function readField(
    { name, arguments: given = [], selectionSet }: FieldNode,
    parent: GraphQLNamedType,
  ): void {
    if (name.value === '__typename') return;
    const definitions = isCompositeType(parent) ? definitionsOf(schema, parent, name.value) : [undefined];
    for (const definition of definitions) {
      const declared = definition && publicField(definition);
      if (declared === undefined) shortest = null;
      else if (shortest !== null) shortest = Math.min(shortest, seconds[declared.lifetime]);
      for (const argument of given)
        if (declared?.privateWith.includes(argument.name.value) === true) switches.push(argument.value);
    }
    if (selectionSet !== undefined)
      readSelection(selectionSet, definitions[0] && getNamedType(definitions[0].type));
  }

  /** Fragments that are spread are read where they are defined. */
  function readSelection(
    { selections }: SelectionSetNode,
    parent: GraphQLNamedType | null | undefined,
  ): void {
    if (parent == null) shortest = null;
    for (const node of selections) {
      // What is private in one place is so as a whole.
      if (parent == null || shortest === null) return;
      if (node.kind === Kind.FIELD) readField(node, parent);
      else if (node.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition: on } = node;
        readSelection(node.selectionSet, on === undefined ? parent : schema.getType(on.name.value));
      }
    }
  }

  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION)
      readSelection(node.selectionSet, schema.getType(node.typeCondition.name.value));
    else if (node.kind === Kind.OPERATION_DEFINITION) {
      if (node.operation !== OperationTypeNode.QUERY) shortest = null;
      for (const { variable, defaultValue } of node.variableDefinitions ?? [])
        if (defaultValue !== undefined) defaults.set(variable.name.value, defaultValue);
      readSelection(node.selectionSet, schema.getRootType(node.operation));
    }
  }
  return (variables) => (switches.every((value) => isOff(value, variables, defaults)) ? shortest : null);
}
