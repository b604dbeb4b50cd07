// A request that is answered on a short way: who comes, whether there is room, what is told of it. The same for queries and files; it
// knows neither.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, Arrival } from '../load/admission.ts';
import type { Pressure } from '../load/pressure.ts';
import type { Exchange, ExchangeEnd } from '../operations/exchange.ts';
import { makeRequestId } from '../operations/request-id.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { traceparent } from '../operations/trace-context.ts';
import { budgetHeaders } from '../plugins/use-rate-limit.ts';
import { corsHeaders } from '../protocol/cors.ts';

/** What is looked at of a request. */
export type Asking = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>;

/** A request that has a place among those under way. */
export interface Entered {
  readonly req: IncomingMessage;
  readonly res: ServerResponse & { req: IncomingMessage };
  /** Gives the place back, once or more often. */
  readonly leave: () => void;
  /** What is told of it; undefined for what is not answered here. */
  exchange: Exchange | undefined;
  /** Of the connection, when it was decided that it is answered here. */
  bytesWritten: number;
}

/** A request that is answered here. */
export interface Visit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly arrival: Arrival;
  readonly exchange: Exchange;
}

/** A request that is answered in the moment that it comes. */
export interface VisitAtOnce extends Pick<Visit, 'arrival' | 'exchange'> {
  readonly req: Asking;
  /** Tells of it when its answer has gone. */
  readonly end: (end: ExchangeEnd) => void;
}

export interface VisitOptions {
  readonly admission: Admission;
  readonly pressure: Pressure;
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
  /** Takes a place among the requests under way, until the answer has gone. @returns null when there is no room */
  enter(req: IncomingMessage, res: ServerResponse & { req: IncomingMessage }): Entered | null;
  /**
   * Counts who comes, at once where nobody has to be asked. From then on it is answered here.
   *
   * @returns null for who has asked too often, and is not counted as a visit
   */
  come(entered: Entered): Visit | null | Promise<Visit | null>;
  /** Both at once. @returns null for who cannot be answered now, or has to be asked for first, and is then counted as nothing */
  comeAtOnce(req: Asking): VisitAtOnce | null;
  /** Headers that only this answer has, in turn with their values. @param isPublic - whether others may be given the same answer */
  ownHeaders(visit: Omit<VisitAtOnce, 'end'>, isPublic: boolean): string[];
}

export function openVisits({ admission, pressure, telemetry, origins }: VisitOptions): Visits {
  function end({ req, res, exchange, bytesWritten }: Entered): void {
    if (exchange === undefined) return;
    const bytes = req.socket.bytesWritten - bytesWritten;
    telemetry.end(exchange, { status: res.statusCode, bytes, left: !res.writableFinished });
  }

  function begin(req: Asking, arrival: Arrival): Exchange {
    const { method, url = '/' } = req;
    const search = url.indexOf('?');
    const exchange = telemetry.arrive({
      requestId: makeRequestId(headerOf(req, 'x-request-id')),
      method,
      pathname: search < 0 ? url : url.slice(0, search),
      traceparent: headerOf(req, 'traceparent'),
    });
    exchange.principal = arrival.caller?.principal;
    return exchange;
  }

  function arrived(entered: Entered, arrival: Arrival): Visit | null {
    const { req, res } = entered;
    if (arrival.verdict?.allowed === false) return null;
    const exchange = begin(req, arrival);
    entered.exchange = exchange;
    entered.bytesWritten = req.socket.bytesWritten;
    if (res.closed) end(entered);
    return { req, res, arrival, exchange };
  }

  return {
    enter(req, res) {
      const leave = pressure.enter();
      if (leave === null) return null;
      const entered: Entered = { req, res, leave, exchange: undefined, bytesWritten: 0 };
      res.on('close', () => {
        leave();
        end(entered);
      });
      return entered;
    },
    come(entered) {
      const arriving = admission.arrive(entered.req);
      return 'then' in arriving
        ? arriving.then((arrival) => arrived(entered, arrival))
        : arrived(entered, arriving);
    },
    comeAtOnce(req) {
      const leave = pressure.enter();
      const arrival = leave === null ? null : admission.arriveAtOnce(req);
      if (leave === null || arrival === null) {
        leave?.();
        return null;
      }
      const exchange = begin(req, arrival);
      return {
        req,
        arrival,
        exchange,
        end(end) {
          leave();
          telemetry.end(exchange, end);
        },
      };
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
