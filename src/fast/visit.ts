// A request that is answered on a short way: who comes, whether there is room, what is told of it. The same for queries and files; it
// knows neither.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, Arrival } from '../load/admission.ts';
import type { Pressure } from '../load/pressure.ts';
import type { Exchange } from '../operations/exchange.ts';
import { makeRequestId } from '../operations/request-id.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { traceparent } from '../operations/trace-context.ts';
import { budgetHeaders } from '../plugins/use-rate-limit.ts';
import { corsHeaders } from '../protocol/cors.ts';

export interface Visit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: Arrival;
  readonly exchange: Exchange;
}

export interface VisitOptions {
  readonly admission: Admission;
  readonly pressure: Pressure;
  readonly telemetry: Telemetry;
  /** Origins whose pages may read answers. */
  readonly origins: readonly string[];
}

/** A header as the Fetch API would give it. */
export function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}

export interface Visits {
  /** Takes a place among the requests under way, until the answer has gone. @returns how to leave before; null when there is no room */
  enter(res: ServerResponse): (() => void) | null;
  /** Counts who comes. From then on it is answered here. @returns null for who has asked too often, and is not counted as a visit */
  come(req: IncomingMessage, res: ServerResponse): Promise<Visit | null>;
  /** Headers that only this answer has, in turn with their values. @param isPublic - whether others may be given the same answer */
  ownHeaders(visit: Visit, isPublic: boolean): string[];
}

export const openVisits = ({ admission, pressure, telemetry, origins }: VisitOptions): Visits => ({
  enter(res) {
    const leave = pressure.enter();
    if (leave !== null) res.on('close', leave);
    return leave;
  },
  async come(req, res) {
    const arriving = admission.arrive(req);
    const arrival = 'then' in arriving ? await arriving : arriving;
    if (arrival.verdict?.allowed === false) return null;
    const exchange = telemetry.arrive({
      requestId: makeRequestId(headerOf(req, 'x-request-id')),
      method: req.method,
      pathname: req.url?.split('?', 1)[0] ?? '/',
      traceparent: headerOf(req, 'traceparent'),
    });
    exchange.principal = arrival.caller?.principal;
    const { bytesWritten } = req.socket;
    const end = () => {
      const bytes = req.socket.bytesWritten - bytesWritten;
      telemetry.end(exchange, { status: res.statusCode, bytes, left: !res.writableFinished });
    };
    if (res.closed) end();
    else res.on('close', end);
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
});
