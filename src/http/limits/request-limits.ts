// The limits of every request, over any transport: which rate-limit buckets it is counted against, and
// whether they have tokens left. Of every HTTP request, before the cache and Yoga: authentication, rate
// limit, body size and time, and a slot among the running requests. A slot is taken when the request is
// complete and released when its response is, however long the client takes to read it. Refusals are
// answered by Yoga's plugins, with all headers.
import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config.ts';
import { createPrivateField } from '../../private-field.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { AccessControl } from '../access-control.ts';
import type { Authenticator, Caller } from '../auth/authenticate.ts';
import { clientIp, clientIpOf, type SocketInfo, setClientIp } from '../auth/node-request.ts';
import { bodyTooLarge, httpError, overloaded } from '../errors.ts';
import type { PendingResponse } from '../response-cache.ts';
import type { BodyFailure } from './buffered-bytes.ts';
import { isAwaitingContinue, sendContinue } from './http-server.ts';
import { bucketsOf, type RateLimit, type RateLimitBucket, type RateLimitResult } from './rate-limit.ts';

/** A request that has come over a connection, before anything is made of it. */
export interface AdmittedClient {
  /** Where from, hidden. */
  readonly address: string;
  /** The caller; null when its credentials are missing or invalid. */
  readonly caller: Caller | null;
  /** The caller, or a promise that rejects with the reason. */
  readonly identified: Caller | Promise<Caller>;
  /** Null where nothing is counted. */
  readonly verdict: RateLimitResult | null;
}

export type Admission = ReturnType<typeof openAdmission>;

/** Addresses that need not be read and hidden anew with every request. */
const MAX_ADDRESSES = 10_000;

/** A hashed address with the buckets of a client without credentials. */
interface Place {
  readonly address: string;
  readonly accounts: readonly RateLimitBucket[];
}

/**
 * Creates the admission control.
 *
 * @param secret - keys the hashes of addresses: the limits need only equality
 */
export function openAdmission(
  { RATE_LIMIT_PER_MINUTE: perMinute, TRUST_PROXY: hops }: Config,
  secret: string,
  limit: RateLimit,
  callers: Authenticator,
  log: Logger,
) {
  // By size: room for a `max` would be taken at once.
  const addresses = new LRUCache<string, Place>({ maxSize: MAX_ADDRESSES, sizeCalculation: () => 1 });
  let told = false;

  // Invalid credentials are refused elsewhere; here the request counts against its address.
  const accounts = async (request: Request): Promise<readonly RateLimitBucket[]> =>
    bucketsOf(await callers.identify(request).catch(() => null), clientIpOf(request));

  function placeOf(incoming: SocketInfo): Place {
    const { headers, socket } = incoming;
    const forwarded = headers['x-forwarded-for'];
    if (!told && hops === 0 && forwarded !== undefined) {
      told = true;
      log.warn('a proxy forwards addresses, but TRUST_PROXY is 0: all who come through it count as one');
    }
    // Not keyed by the header itself, which a client can make long.
    const seen = hops === 0 ? String(socket.remoteAddress) : clientIp(incoming, hops);
    const known = addresses.get(seen);
    if (known !== undefined) return known;
    const shown = hops === 0 ? clientIp(incoming, hops) : seen;
    const address = createHmac('sha256', secret).update(`address ${shown}`).digest('base64url');
    const place = { address, accounts: bucketsOf(null, address) };
    addresses.set(seen, place);
    return place;
  }

  /** Spends of one account after the other; waits only where a store has to be asked. */
  function consume(
    all: readonly RateLimitBucket[],
    at = 0,
    least: RateLimitResult | null = null,
  ): RateLimitResult | null | Promise<RateLimitResult | null> {
    const account = all[at];
    if (account === undefined) return least;
    const spent = limit.spend({ key: account.key, perMinute: perMinute * account.share });
    const next = (verdict: RateLimitResult) => {
      if (!verdict.allowed) return verdict;
      return consume(all, at + 1, least === null || verdict.remaining < least.remaining ? verdict : least);
    };
    return 'then' in spent ? spent.then(next) : next(spent);
  }

  /** Whose budgets a request is counted against. */
  const chargedTo = ({ address, accounts }: Place, caller: Caller | null): readonly RateLimitBucket[] =>
    caller === null || caller.principal === null ? accounts : bucketsOf(caller, address);

  function arrived(
    place: Place,
    caller: Caller | null,
    identified: AdmittedClient['identified'],
    isCounted: boolean,
  ): AdmittedClient | Promise<AdmittedClient> {
    const { address } = place;
    const spent = isCounted ? consume(chargedTo(place, caller)) : null;
    return spent !== null && 'then' in spent
      ? spent.then((verdict) => ({ address, caller, identified, verdict }))
      : { address, caller, identified, verdict: spent };
  }

  return {
    /** Looks at a request's headers, and counts it. */
    admit(incoming: SocketInfo & Pick<IncomingMessage, 'method'>): AdmittedClient | Promise<AdmittedClient> {
      const place = placeOf(incoming);
      const isCounted = perMinute > 0 && incoming.method !== 'OPTIONS';
      const identified = callers.whoIs(incoming.headers.authorization, place.address);
      return 'then' in identified
        ? identified.catch(() => null).then((caller) => arrived(place, caller, identified, isCounted))
        : arrived(place, identified, identified, isCounted);
    },
    /** The address that a connection counts as, hidden. */
    addressOf: (incoming: SocketInfo): string => placeOf(incoming).address,
    /** Says what came of looking at a request before it was one. */
    attachToRequest(request: Request, { address, identified }: AdmittedClient): void {
      setClientIp(request, address);
      callers.note(request, Promise.resolve(identified));
    },
    /** Notes where a request comes from, by its connection. */
    note(request: Request, incoming: IncomingMessage | undefined): void {
      if (incoming !== undefined) setClientIp(request, placeOf(incoming).address);
    },
    /** Whose budget a request is counted against. */
    accounts,
    /** Counts a request: the account with the least left decides. Null where nothing is counted. */
    spend: async (request: Request): Promise<RateLimitResult | null> =>
      perMinute === 0 ? null : consume(await accounts(request)),
  };
}

/** Why a request is refused before it runs, as metrics name it. */
export type RefusalReason =
  | 'busy'
  | 'rate'
  | 'connections'
  | 'unfinished_bodies'
  | 'buffered_bytes'
  | 'slow_body';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly error: GraphQLError;
}

/** What is known of a request that came over a connection. */
export interface LimitedRequest {
  readonly arrival: AdmittedClient;
  /**
   * The body of a POST; an error when there is none to work with, undefined when it was not read.
   */
  readonly body: Buffer | GraphQLError | undefined;
  /** Why it is not to be worked on; undefined when it is. */
  readonly refusal: Refusal | undefined;
  /** Gives the place back early, once or more often. */
  readonly leave: () => void;
  /** Set by the response cache for an answer that others may wait for. */
  pending?: PendingResponse;
}

/** Monitoring is always answered. */
export const EXEMPT_PATHS: readonly string[] = ['/health', '/ready', '/metrics'];

/** How long a client whose request was not read to its end has to read the answer. */
const LINGER_MS = 5_000;

const limited = createPrivateField<IncomingMessage, LimitedRequest>();

/** What the limits have said of a request; undefined for one that never met them. */
export const limitedRequestOf = (incoming: IncomingMessage | undefined): LimitedRequest | undefined =>
  incoming === undefined ? undefined : limited.get(incoming);

type Response = ServerResponse & { req: IncomingMessage };

/** The path of a request, without its search. */
export const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';
const keepsNoPlace = (): void => undefined;

/** What a body that cannot be worked with is answered with. */
function answerTo(failure: BodyFailure, maxBodyBytes: number): Pick<LimitedRequest, 'body' | 'refusal'> {
  if (failure === 'too_large') return { body: bodyTooLarge(maxBodyBytes), refusal: undefined };
  const refusals: Record<typeof failure, Refusal> = {
    too_slow: {
      reason: 'slow_body',
      error: httpError(
        408,
        'The body of this request did not arrive in time (REQUEST_BODY_SECONDS). ' +
          'Nothing was done; send it again.',
        { headers: { connection: 'close' } },
      ),
    },
    too_many: { reason: 'unfinished_bodies', error: overloaded() },
    no_memory: { reason: 'buffered_bytes', error: overloaded() },
  };
  return { body: undefined, refusal: refusals[failure] };
}

/**
 * The same listener behind the limits.
 *
 * @param onFault - called with an internal error; answers the request
 */
export function limitRequests(
  listener: RequestListener,
  { proofNeeded, MAX_BODY_BYTES: maxBodyBytes }: Config,
  { admission, pressure, bodies, connections, slowReaders, turns }: AccessControl,
  onFault: (error: unknown, res: ServerResponse) => void,
): RequestListener {
  function pass(req: IncomingMessage, res: Response, met: LimitedRequest): void {
    limited.set(req, met);
    if (!req.complete) {
      const cut = () => setTimeout(() => req.complete || req.socket.destroy(), LINGER_MS).unref();
      res.once('finish', cut);
      bodies.discard(req, met.arrival.address);
      // The client may now omit the body; the next bytes could then not be told from one.
      if (isAwaitingContinue(req)) res.setHeader('connection', 'close');
    }
    turns.begin(met.arrival.address, () => {
      if (!res.closed) listener(req, res);
    });
  }

  function passComplete(
    req: IncomingMessage,
    res: Response,
    arrival: AdmittedClient,
    body: Buffer | undefined,
  ): void {
    const leave = pressure.enter(arrival.address);
    const refusal: Refusal | undefined = leave === null ? { reason: 'busy', error: overloaded() } : undefined;
    // The first when the answer is complete, the other when it never is.
    if (leave !== null) res.once('prefinish', leave).once('close', leave);
    pass(req, res, { arrival, body, refusal, leave: leave ?? keepsNoPlace });
  }

  function arrived(req: IncomingMessage, res: Response, arrival: AdmittedClient): void {
    if (res.closed) return;
    slowReaders.watch(req.socket, arrival.address);
    const isRefused = arrival.verdict?.allowed === false || (proofNeeded && arrival.caller === null);
    if (!connections.isWithin(req.socket)) refuseConnection(req, res, arrival);
    else if (req.method !== 'POST') passComplete(req, res, arrival, undefined);
    else if (isRefused) pass(req, res, { arrival, body: undefined, refusal: undefined, leave: keepsNoPlace });
    else read(req, res, arrival);
  }

  /** Refuses a request over a connection beyond the limit, and closes the connection. */
  function refuseConnection(req: IncomingMessage, res: Response, arrival: AdmittedClient): void {
    res.setHeader('connection', 'close');
    const refusal: Refusal = { reason: 'connections', error: overloaded() };
    pass(req, res, { arrival, body: undefined, refusal, leave: keepsNoPlace });
  }

  function read(req: IncomingMessage, res: Response, arrival: AdmittedClient): void {
    let isRead = false;
    const release = bodies.read(req, arrival.address, (body) => {
      isRead = true;
      if (res.closed) return;
      if (Buffer.isBuffer(body)) passComplete(req, res, arrival, body);
      else pass(req, res, { arrival, ...answerTo(body, maxBodyBytes), leave: keepsNoPlace });
    });
    res.once('close', release);
    if (!isRead) sendContinue(req, res);
  }

  return (req, res) => {
    if (EXEMPT_PATHS.includes(pathOf(req))) return listener(req, res);
    const arriving = admission.admit(req);
    if ('then' in arriving)
      arriving.then((arrival) => arrived(req, res, arrival)).catch((error) => onFault(error, res));
    else arrived(req, res, arriving);
  };
}
