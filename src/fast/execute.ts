// What runs a query that nobody has just asked and finishes its answer: at once where its document is known to be plain and its caller is
// known; else by Yoga with all plugins. It decides neither who may ask nor what is kept.
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { GraphQLParams, YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../context.ts';
import type { AnswerLimits } from '../execution/execution-budget.ts';
import { executeOperation, GrowingResult } from '../execution/query.ts';
import type { Contexts } from '../gateway/contexts.ts';
import type { Admission } from '../load/admission.ts';
import type { Exchange } from '../operations/exchange.ts';
import { noteRequestId } from '../operations/request-id.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { codedResult } from '../plugins/use-error-codes.ts';
import type { PlainQuery, Streamed } from '../plugins/use-plain-queries.ts';
import type { AnyResult } from '../protocol/answer.ts';
import { growingBodies } from '../protocol/growing-answer.ts';
import { framedBodies, growingParts } from '../protocol/growing-parts.ts';
import type { MediaType } from '../protocol/media-type.ts';
import { framingOf } from '../protocol/streamed-answer.ts';
import { TimeLimit } from '../upstream/time-limit.ts';
import { type Finished, type FinishOptions, openFinishing, type Question } from './finished.ts';
import type { Visit } from './visit.ts';

/** How a list is given to who takes parts. */
export interface Parts extends Streamed {
  readonly mediaType: MediaType;
}

/** A question that may be answered here. */
export interface Asked extends Question {
  readonly params: GraphQLParams;
  readonly query: PlainQuery;
  /** How its list is given; undefined for what is answered in one piece. */
  readonly parts: Parts | undefined;
}

export interface ExecuteOptions extends FinishOptions {
  readonly yoga: Pick<YogaServerInstance<object, GatewayContext>, 'getResultForParams' | 'fetchAPI'>;
  readonly contexts: Pick<Contexts, 'of'>;
  readonly admission: Pick<Admission, 'adopt'>;
  readonly telemetry: Pick<Telemetry, 'adopt' | 'ran'>;
  /** What an answer may hold. */
  readonly limits: AnswerLimits;
  /** Milliseconds that a request may take. */
  readonly patience: number;
  /** Milliseconds between two signs of life in a silent stream. */
  readonly pulseMs: number;
  /** Told of each error of an answer. */
  readonly onError: (error: GraphQLError, request: Request) => void;
  /** The errors of a result as its caller sees them. */
  readonly shown: (errors: readonly GraphQLError[], exchange: Exchange) => GraphQLError[];
}

/** Runs a query and gives its finished answer. */
export type Execute = (asked: Asked, visit: Visit) => Promise<Finished>;

/** Headers as the Fetch API takes them. */
function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) plain[name] = String(headers[name]);
  return plain;
}

/** Where requests to a host were sent, as a URL would say it; the last host is remembered. */
function openOrigins(): (host: string | undefined) => string {
  let last = { host: '', origin: '' };
  return (host = '') => {
    if (last.host !== host) last = { host, origin: new URL(`http://${host}`).origin };
    return last.origin;
  };
}

/** Nobody watches a plain query. */
const isNoStream = (): never => {
  throw new Error('Only the events of a stream have contexts of their own.');
};

/** Opens the execution of plain queries. */
export function openExecution(options: ExecuteOptions): Execute {
  const { yoga, contexts, admission, telemetry, patience, pulseMs, shown, onError } = options;
  const originOf = openOrigins();
  const { finish, finishGrowing } = openFinishing(options);

  function finishParts(results: AsyncIterable<AnyResult>, { mediaType }: Parts, { name }: Asked): Finished {
    const bodies = framedBodies(results, framingOf(mediaType), pulseMs);
    return finishGrowing(bodies, { mediaType, name });
  }

  /** The answer to a query that has run before; undefined where it does not run, such as for its variables. */
  async function directly(asked: Asked, visit: Visit): Promise<Finished | undefined> {
    const { params, query, parts } = asked;
    const { req, res, arrival, exchange } = visit;
    const { caller } = arrival;
    if (caller === null || (params.operationName ?? query.name) !== query.name) return undefined;
    const limit = new TimeLimit(undefined, patience);
    const left = () => {
      if (res.writableFinished) limit.end();
      else limit.leave();
    };
    res.on('close', left);
    if (res.closed) limit.leave();
    let isGrowing = false;
    try {
      const result = await executeOperation({
        schema: query.schema,
        document: query.document,
        variableValues: params.variables,
        limits: options.limits,
        ending: limit.leaving,
        contextValue: contexts.of({
          caller,
          exchange,
          signal: limit.leaving,
          clientSignal: limit.leaving,
          origin: originOf(req.headers.host),
          isRouter: false,
          fresh: isNoStream,
        }),
        // What may be kept by clients has a tag, which is made of all of it.
        grows: req.method === 'POST',
        initialCount: parts?.initialCount,
      });
      if (result === undefined) return undefined;
      telemetry.ran(exchange, { type: 'query', name: query.name });
      const seen = (errors: readonly GraphQLError[]) => shown(errors, exchange);
      if (result instanceof GrowingResult) {
        // Until all of it has gone there is as much to wait for as of any other.
        isGrowing = true;
        if (parts === undefined) return finishGrowing(growingBodies(result, seen), asked);
        return finishParts(growingParts(result, parts.label, seen), parts, asked);
      }
      return finish(result.errors === undefined ? result : { ...result, errors: seen(result.errors) }, asked);
    } finally {
      if (!isGrowing) limit.end();
    }
  }

  async function byYoga(asked: Asked, { req, res, arrival, exchange }: Visit): Promise<Finished> {
    const { params, parts } = asked;
    const leaving = new AbortController();
    res.once('close', () => {
      if (!res.writableFinished) leaving.abort();
    });
    if (res.closed) leaving.abort();
    const request = new yoga.fetchAPI.Request(`http://${req.headers.host}${req.url}`, {
      method: req.method ?? 'GET',
      headers: plainHeaders(req),
      signal: leaving.signal,
    });
    noteRequestId(request, exchange.requestId);
    admission.adopt(request, arrival);
    telemetry.adopt(request, exchange);
    const result = await yoga.getResultForParams({ params, request }, { req, res });
    if (result === undefined) throw new Error('A plain query has an answer.');
    if (!(Symbol.asyncIterator in result))
      return finish(
        codedResult(result, (error) => onError(error, request)),
        asked,
      );
    if (parts === undefined) throw new Error('Only what is asked for in parts comes in parts.');
    return finishParts(result, parts, asked);
  }

  return async (asked, visit) => (await directly(asked, visit)) ?? byYoga(asked, visit);
}
