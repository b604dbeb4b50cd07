// A request that is answered on the short way: what is told of it, and the headers that only its
// answer has.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrival } from '../load/admission.ts';
import type { Exchange } from '../operations/exchange.ts';
import { makeRequestId } from '../operations/request-id.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { traceparent } from '../operations/trace-context.ts';
import { budgetHeaders } from '../plugins/use-rate-limit.ts';
import { corsHeaders } from '../protocol/cors.ts';

/** A request that is answered here. */
export interface Visit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: Arrival;
  readonly exchange: Exchange;
}

export interface VisitOptions {
  readonly telemetry: Telemetry;
  /** Origins whose pages may read answers. */
  readonly origins: readonly string[];
}

/** A header as the Fetch API would give it. */
export function headerOf({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

export interface Visits {
  /** Begins to tell of a request: from then on it is answered here. */
  begin(req: IncomingMessage, res: ServerResponse, arrival: Arrival): Visit;
  /**
   * Headers that only this answer has, in turn with their values.
   *
   * @param isPublic - whether others may be given the same answer
   */
  ownHeaders(visit: Visit, isPublic: boolean): string[];
}

export function openVisits({ telemetry, origins }: VisitOptions): Visits {
  return {
    begin(req, res, arrival) {
      const { method, url = '/' } = req;
      const search = url.indexOf('?');
      const exchange = telemetry.arrive({
        requestId: makeRequestId(headerOf(req, 'x-request-id')),
        method,
        pathname: search < 0 ? url : url.slice(0, search),
        traceparent: headerOf(req, 'traceparent'),
      });
      exchange.principal = arrival.caller?.principal;
      const { socket } = req;
      const before = socket.bytesWritten;
      const end = () => {
        const bytes = socket.bytesWritten - before;
        telemetry.end(exchange, { status: res.statusCode, bytes, left: !res.writableFinished });
      };
      if (res.closed) end();
      else res.once('close', end);
      return { req, res, arrival, exchange };
    },
    ownHeaders({ req, exchange, arrival }, isPublic) {
      const own = ['x-request-id', exchange.requestId, 'traceresponse', traceparent(exchange.step.context)];
      if (origins.length > 0)
        for (const [name, value] of Object.entries(corsHeaders(headerOf(req, 'origin'), origins)))
          own.push(name, value);
      // What many are given says nothing of one.
      if (arrival.verdict !== null && !isPublic)
        for (const [name, value] of Object.entries(budgetHeaders(arrival.verdict))) own.push(name, value);
      return own;
    },
  };
}
