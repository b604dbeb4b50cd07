// What runs a query that nobody has just asked, with all plugins, and finishes its answer. It decides neither who may ask nor what is kept.
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { GraphQLParams, YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../context.ts';
import type { Admission } from '../load/admission.ts';
import { noteRequestId } from '../operations/request-id.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { codedResult } from '../plugins/use-error-codes.ts';
import { type Finished, type FinishOptions, finish, type Question } from './finished.ts';
import type { Visit } from './visit.ts';

/** A question that may be answered here. */
export interface Asked extends Question {
  readonly params: GraphQLParams;
}

export interface ExecuteOptions extends FinishOptions {
  readonly yoga: Pick<YogaServerInstance<object, GatewayContext>, 'getResultForParams' | 'fetchAPI'>;
  readonly admission: Pick<Admission, 'adopt'>;
  readonly telemetry: Pick<Telemetry, 'adopt'>;
  /** Told of each error of an answer. */
  readonly onError: (error: GraphQLError, request: Request) => void;
}

/** Runs a query and gives its finished answer. */
export type Execute = (asked: Asked, visit: Visit) => Promise<Finished>;

/** Headers as the Fetch API takes them. */
function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) plain[name] = String(headers[name]);
  return plain;
}

/** Opens the execution of plain queries. */
export function openExecution(options: ExecuteOptions): Execute {
  const { yoga, admission, telemetry } = options;
  const requestOf = (req: IncomingMessage, signal: AbortSignal): Request =>
    new yoga.fetchAPI.Request(`http://${req.headers.host}${req.url}`, {
      method: req.method ?? 'GET',
      headers: plainHeaders(req),
      signal,
    });

  return async (asked, { req, res, arrival, exchange }) => {
    const leaving = new AbortController();
    res.once('close', () => {
      if (!res.writableFinished) leaving.abort();
    });
    if (res.closed) leaving.abort();
    const request = requestOf(req, leaving.signal);
    noteRequestId(request, exchange.requestId);
    admission.adopt(request, arrival);
    telemetry.adopt(request, exchange);
    const result = await yoga.getResultForParams({ params: asked.params, request }, { req, res });
    if (result === undefined || Symbol.asyncIterator in result)
      throw new Error('A plain query is answered in one piece.');
    return finish(
      codedResult(result, (error) => options.onError(error, request)),
      asked,
      options,
    );
  };
}
