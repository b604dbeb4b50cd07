// Delivers results: shows callers masked errors with codes, in every result and every part of one, and
// counts them; serializes in the media type that the client prefers, with the status of GraphQL over HTTP,
// where Yoga's own choice ignores weights; and in parts (`@defer`, `@stream`) only to clients that accept
// such a media type. Errors of the way to the execution are masked by Yoga, with the same function.
import { GraphQLStreamDirective, memoize1 } from '@graphql-tools/utils';
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  OverlappingFieldsCanBeMergedRule,
  visit,
} from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { nodeResponseOf } from '../auth/node-request.ts';
import { httpError } from '../errors.ts';
import { documentFacts, PARTS } from '../graphql/document-facts.ts';
import {
  EVENT_STREAM,
  framingOf,
  isJson,
  type MediaType,
  MULTIPART_EVENTS,
  negotiateEventStreamType,
  negotiateIncrementalType,
  negotiateResponseType,
  type StreamFraming,
} from '../graphql/media-type.ts';
import {
  type Body,
  type ExecutionOrIncrementalResult,
  httpHeadOf,
  STREAM_THRESHOLD_BYTES,
  serializeResult,
  toBuffer,
} from '../graphql/serialize-result.ts';
import { streamOf } from '../graphql/stream-body.ts';
import { rememberBody } from '../response-cache.ts';
import type { ClientErrors } from './errors.ts';

/** What an answer is whose result is still coming. */
const BEGUN: ExecutionOrIncrementalResult = { data: {} };

async function* alone<T>(one: T): AsyncIterable<T> {
  yield one;
}

const partOf = (framing: StreamFraming) => (result: ExecutionOrIncrementalResult) =>
  serializeResult(result, framing.head, framing.tail);

/**
 * Serializes events. A result object shared by many streams (subscriptions.ts) is serialized once.
 */
function eventWriter(framing: StreamFraming): (result: ExecutionOrIncrementalResult) => Uint8Array {
  const written = new WeakMap<ExecutionOrIncrementalResult, Uint8Array>();
  return (result) => {
    const part = written.get(result) ?? toBuffer(serializeResult(result, framing.head, framing.tail));
    written.set(result, part);
    return part;
  };
}

const EVENT_WRITERS = new Map([EVENT_STREAM, MULTIPART_EVENTS].map((one) => [one, eventWriter(one)]));

/**
 * Longer answers are encoded once, for the client and the response cache; shorter ones go out with
 * their head.
 */
const TEXT_CHARACTERS = 16_384;

/** Takes `@defer` and `@stream` out of a document, once. */
const withoutParts = memoize1(
  (document: DocumentNode): DocumentNode =>
    visit(document, { Directive: ({ name }) => (PARTS.has(name.value) ? null : undefined) }),
);
const wholeOf = (document: DocumentNode): DocumentNode =>
  documentFacts(document).hasParts ? withoutParts(document) : document;

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Errors for a `@stream` with an invalid initialCount, which the executor would mask as internal.
 */
function streamErrors({ schema, document, operationName, variableValues }: Operation): GraphQLError[] {
  const streams = documentFacts(document).directives.filter(({ name }) => name.value === 'stream');
  if (streams.length === 0) return [];
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  const { coerced } = getVariableValues(schema, definitions, { ...variableValues }, { maxErrors: 1 });
  // Variables that cannot be read are the executor's to refuse.
  if (coerced === undefined) return [];
  return streams.flatMap((node) => {
    const { initialCount } = getArgumentValues(GraphQLStreamDirective, node, coerced);
    return typeof initialCount === 'number' && initialCount >= 0
      ? []
      : new GraphQLError('`initialCount` of @stream is the size of the first part: 0 or more.', {
          nodes: node,
          extensions: { code: 'BAD_USER_INPUT', retryable: false },
        });
  });
}

type WithErrors = { readonly errors?: readonly GraphQLError[] };

/** @param pulseMs - milliseconds between two signs of life in a silent event stream */
export function useDelivery(
  { ofResult, ofAnswer, show }: ClientErrors,
  telemetry: Telemetry,
  pulseMs: number,
): Plugin {
  const subscriptions = new WeakSet<Request>();
  const { onSchemaChange, onValidate } = useDeferStream();

  const withShownErrors = <T extends WithErrors>(result: T, exchange: RequestRecord): T =>
    result.errors === undefined ? result : { ...result, errors: ofResult(result.errors, exchange) };

  function shownInParts(
    { incremental, ...result }: ExecutionOrIncrementalResult,
    exchange: RequestRecord,
  ): ExecutionOrIncrementalResult {
    const parts = incremental?.map((part) => withShownErrors(part, exchange));
    return { ...withShownErrors(result, exchange), ...(parts === undefined ? {} : { incremental: parts }) };
  }

  /** The hook for the results of an operation. */
  const showAll = (request: Request) => (done: Parameters<typeof handleStreamOrSingleExecutionResult>[0]) =>
    handleStreamOrSingleExecutionResult(done, ({ result, setResult }) => {
      const exchange = telemetry.exchangeOf(request);
      if ('hasNext' in result) setResult(shownInParts(result, exchange));
      else setResult(withShownErrors(result, exchange));
    });

  /**
   * The media type of the response; JSON when the client accepts none, so that the error is
   * readable.
   */
  function mediaTypeOf(request: Request, isStream: boolean): MediaType {
    const accept = request.headers.get('accept');
    if (!isStream) return negotiateResponseType(accept) ?? 'application/json';
    const choose = subscriptions.has(request) ? negotiateEventStreamType : negotiateIncrementalType;
    return choose(accept) ?? 'text/event-stream';
  }

  return {
    ...(onSchemaChange === undefined ? {} : { onSchemaChange }),
    onValidate(payload) {
      // The plugin adds a rule in place of this one, and only seems to take it out.
      const { rules = [] } = payload.params;
      const index = rules.indexOf(OverlappingFieldsCanBeMergedRule);
      if (index >= 0) rules.splice(index, 1);
      onValidate?.(payload);
      return ({ valid, result, setResult }) => {
        if (!valid) setResult(result.map(show));
      };
    },
    onExecute({ args, context: { request }, setResultAndStopExecution }) {
      if (negotiateIncrementalType(request.headers.get('accept')) === null)
        args.document = wholeOf(args.document);
      else {
        const errors = streamErrors(args);
        if (errors.length > 0) setResultAndStopExecution({ errors });
      }
      return { onExecuteDone: showAll(request) };
    },
    onSubscribe({ args, context: { request }, setResultAndStopExecution }) {
      if (negotiateEventStreamType(request.headers.get('accept')) !== null) subscriptions.add(request);
      else
        setResultAndStopExecution({
          errors: [
            httpError(406, 'A subscription is a stream: accept text/event-stream or multipart/mixed.'),
          ],
        });
      // An event is one result: its parts would come out of order with the next event's.
      args.document = wholeOf(args.document);
      return { onSubscribeResult: showAll(request) };
    },
    onResultProcess({ request, result: given, serverContext, setResult, setResultProcessor }) {
      if ('errors' in given && given.errors !== undefined)
        setResult({ ...given, errors: ofAnswer(given.errors, request) });
      const isEvents = subscriptions.has(request);
      const mediaType = mediaTypeOf(request, Symbol.asyncIterator in given);
      const framing = mediaType === 'multipart/mixed' && isEvents ? MULTIPART_EVENTS : framingOf(mediaType);
      const connection = nodeResponseOf(serverContext);

      setResultProcessor((result, { Response }) => {
        /** Results that come one after the other. @param first - which decides the status */
        const inParts = (
          results: AsyncIterable<ExecutionOrIncrementalResult>,
          first: ExecutionOrIncrementalResult = BEGUN,
        ) => {
          const { opening, closing, pulse: text } = framing;
          // Parts are not shared; caching their bytes would hold memory longer than needed.
          const write = (isEvents ? EVENT_WRITERS.get(framing) : undefined) ?? partOf(framing);
          const pulse = text === undefined ? undefined : { text, ms: pulseMs };
          const stream = streamOf(results, { write, opening, closing, pulse, connection });
          return new Response(stream, httpHeadOf(first, mediaType, framing));
        };
        /** One result in chunks. */
        const inChunks = (bodies: AsyncIterable<Body>, first: ExecutionOrIncrementalResult) =>
          new Response(streamOf(bodies, { write: (body) => body, connection }), httpHeadOf(first, mediaType));

        if (Array.isArray(result))
          throw new Error('Lists of operations are refused before they are executed.');
        if (Symbol.asyncIterator in result) return inParts(result);
        if (!isJson(mediaType)) return inParts(alone(result), result);
        const made = serializeResult(result);
        const isText = typeof made === 'string';
        if (!isText && made.byteLength > STREAM_THRESHOLD_BYTES && request.method !== 'GET')
          return inChunks(alone(made), result);
        const body = isText && made.length <= TEXT_CHARACTERS ? made : toBuffer(made);
        return rememberBody(new Response(body, httpHeadOf(result, mediaType)), body);
      }, mediaType);
    },
  };
}
