// The short way of an ordinary query over node:http: read, looked up among finished answers or executed with all plugins, written. It has
// no rules of its own. Whatever has not run before, whatever is refused, and what comes in parts but for a single list, goes the long way
// through Yoga; what is answered here is put together from the same functions. It must not know a field or a type.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type LimitedRequest, limitedRequestOf } from '../load/request-limits.ts';
import { breakOff, isAddress } from '../plugins/guard.ts';
import type { PlainQueries, PlainQuery } from '../plugins/use-plain-queries.ts';
import { paramsOf } from '../plugins/use-request-reading.ts';
import { REPORT_HEADER } from '../plugins/use-upstream-report.ts';
import { checkRequest } from '../protocol/check-request.ts';
import { chooseForParts, chooseForWhole, isJson } from '../protocol/media-type.ts';
import { type OperationParams, readBody, readSearch } from '../protocol/read-params.ts';
import { answerKey } from './answer-key.ts';
import { type Asked, type ExecuteOptions, openExecution } from './execute.ts';
import { type Finished, write } from './finished.ts';
import { openFlights } from './flights.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { openSecondSight } from './second-sight.ts';
import { headerOf, type Visit, type Visits } from './visit.ts';

export interface FastPathOptions extends ExecuteOptions {
  /** The long way. */
  readonly listener: RequestListener;
  readonly queries: PlainQueries;
  readonly kept: KeptAnswers<Finished>;
  readonly visits: Visits;
  readonly documentOf: (params: OperationParams) => string;
  /** Pages of other sites that may ask, as CORS_ORIGINS lists them. */
  readonly origins: readonly string[];
  /** Whether a request was sent to the gateway by its name, where that matters. */
  readonly isMeant: (host: string | undefined) => boolean;
  /** Told of what is wrong with the gateway itself. */
  readonly onFault: (error: unknown) => void;
  /** Bytes of a body that are read here at most. */
  readonly maxBytes: number;
}

const PATH = '/graphql';
/** Seconds that an answer is given again at most: nothing becomes older by it than its data may be anyway, but for this. */
const MOST_SECONDS = 60;

/** How the list of a query is given to a client; undefined for one that takes no parts. */
function partsFor({ streamed }: PlainQuery, method: string | undefined, accept: string | null) {
  const mediaType = streamed === undefined || method !== 'POST' ? null : chooseForParts(accept);
  if (streamed === undefined || mediaType === null) return undefined;
  return { ...streamed, mediaType };
}

/** Opens the short way in front of the long one. */
export function openFastPath(options: FastPathOptions): RequestListener {
  const { listener, queries, kept, visits, telemetry } = options;
  const execute = openExecution(options);
  const flights = openFlights<Finished>();
  const isAskedAgain = openSecondSight();

  /** Whether it is worth to look closer. */
  function isOrdinary(req: IncomingMessage): boolean {
    const { url = '', method, headers } = req;
    if (url !== PATH && !url.startsWith(`${PATH}?`)) return false;
    if (headers.host === undefined) return false;
    // They change answers by rules that are the long way's.
    if (headers[REPORT_HEADER] !== undefined || headers['x-federation-token'] !== undefined) return false;
    // Browsers may be given a page.
    return method === 'POST' || (method === 'GET' && headers.accept?.includes('text/html') !== true);
  }

  /** What is asked; null for what goes the long way, refusals among it. */
  function read(req: IncomingMessage, body: Buffer | undefined): Asked | null {
    if (!isAddress(req) || !options.isMeant(req.headers.host)) return null;
    const accept = req.headers.accept ?? null;
    const mediaType = chooseForWhole(accept);
    if (mediaType === null) return null;
    try {
      checkRequest(req.method, { get: (name) => headerOf(req, name) }, options.origins);
      const given = body === undefined ? readSearch(req.url?.slice(PATH.length) ?? '') : readBody(body);
      const text = options.documentOf(given);
      const query = queries.get(text);
      if (query === undefined) return null;
      const parts = partsFor(query, req.method, accept);
      if (parts === undefined && (query.streamed !== undefined || !isJson(mediaType))) return null;
      const isKept = parts === undefined;
      return {
        params: paramsOf(given, text),
        query,
        method: req.method,
        mediaType,
        parts,
        name: query.name,
        seconds: isKept ? query.secondsFor(given.variables ?? {}) : null,
      };
    } catch {
      return null;
    }
  }

  /** The answer to a question of somebody who may ask it: somebody else's, where that is the same for all. */
  async function answerTo(asked: Asked, key: string, visit: Visit): Promise<Finished> {
    if (asked.seconds === null || asked.seconds === 0) return execute(asked, visit);
    const keep = (answered: Finished) => kept.set(key, answered, Math.min(answered.seconds, MOST_SECONDS));
    const flown = await flights.share(key, async () => {
      const own = await execute(asked, visit);
      const shared = own.status === 200 && own.seconds > 0 ? own : null;
      if (shared !== null && isAskedAgain(key)) keep(shared);
      return { shared, own };
    });
    if ('own' in flown) return flown.own;
    if (kept.get(key) === undefined) keep(flown.shared);
    return again(flown.shared, visit);
  }

  /** An answer that was worked out for somebody else, or before. */
  function again(answered: Finished, { exchange }: Visit): Finished {
    telemetry.ran(exchange, { type: 'query', name: answered.name });
    return answered;
  }

  /** Gives what was kept. Nothing is waited for here and no promise is made, which would cost a tenth of all that a hit costs. */
  function give(given: Finished, visit: Visit): Promise<void> | undefined {
    const { req, res } = visit;
    if (res.closed) return undefined;
    return write(res, given, visits.ownHeaders(visit, given.isPublic), headerOf(req, 'if-none-match'));
  }

  /** Works the answer out for who has not come without it. */
  async function work(asked: Asked, key: string, visit: Visit): Promise<void> {
    await give(
      visit.arrival.caller === null ? await execute(asked, visit) : await answerTo(asked, key, visit),
      visit,
    );
  }

  /** Answers a request that is within its limits, or has it answered on the long way. */
  function attend(
    req: IncomingMessage,
    res: ServerResponse & { req: IncomingMessage },
    { arrival }: LimitedRequest,
    body: Buffer | undefined,
  ): Promise<void> | undefined {
    if (arrival.verdict?.allowed === false) return void listener(req, res);
    const key = answerKey(req, body);
    const found = kept.get(key);
    // Equal keys are equal questions, but a caller without the needed proof gets no answer.
    if (found !== undefined && arrival.caller !== null) {
      const visit = visits.begin(req, res, arrival);
      return give(again(found, visit), visit);
    }
    const asked = read(req, body);
    return asked === null ? void listener(req, res) : work(asked, key, visits.begin(req, res, arrival));
  }

  return (req, res) => {
    const limited = limitedRequestOf(req);
    const body = limited?.body;
    const isSmall = body === undefined || (Buffer.isBuffer(body) && body.length <= options.maxBytes);
    if (limited === undefined || limited.refusal !== undefined || !isSmall || !isOrdinary(req))
      return listener(req, res);
    const fail = (error: unknown): void => {
      if (res.closed) return;
      options.onFault(error);
      breakOff(res);
    };
    try {
      attend(req, res, limited, body)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}
