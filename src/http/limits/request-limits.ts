// The limits of every request, over any transport: which rate-limit buckets it is counted against, and
// whether they have tokens left. Of every HTTP request, before the cache and Yoga: authentication, rate
// limit, body size, and the number of requests in flight, counted from when the request is whole until its
// response is closed. Yoga's plugins answer refusals, with all headers.
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
import { bodyTooLarge } from '../errors.ts';
import { isMonitoring, requestPath } from '../request-target.ts';
import type { PendingResponse } from '../response-cache.ts';
import { bucketsOf, type RateLimit, type RateLimitBucket, type RateLimitResult } from './rate-limit.ts';
import { createBodyReader, MAX_ANONYMOUS_BODY_BYTES } from './read-body.ts';

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
interface ClientAddress {
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
  const addresses = new LRUCache<string, ClientAddress>({ maxSize: MAX_ADDRESSES, sizeCalculation: () => 1 });
  let told = false;

  // Invalid credentials are refused elsewhere; here the request counts against its address.
  const accounts = async (request: Request): Promise<readonly RateLimitBucket[]> =>
    bucketsOf(await callers.identify(request).catch(() => null), clientIpOf(request));

  function readAddress(incoming: SocketInfo): ClientAddress {
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
    const found = { address, accounts: bucketsOf(null, address) };
    addresses.set(seen, found);
    return found;
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
  const chargedTo = (
    { address, accounts }: ClientAddress,
    caller: Caller | null,
  ): readonly RateLimitBucket[] =>
    caller === null || caller.principal === null ? accounts : bucketsOf(caller, address);

  function arrived(
    from: ClientAddress,
    caller: Caller | null,
    identified: AdmittedClient['identified'],
    isCounted: boolean,
  ): AdmittedClient | Promise<AdmittedClient> {
    const { address } = from;
    const spent = isCounted ? consume(chargedTo(from, caller)) : null;
    return spent !== null && 'then' in spent
      ? spent.then((verdict) => ({ address, caller, identified, verdict }))
      : { address, caller, identified, verdict: spent };
  }

  return {
    /** Looks at a request's headers, and counts it. */
    admit(incoming: SocketInfo & Pick<IncomingMessage, 'method'>): AdmittedClient | Promise<AdmittedClient> {
      const from = readAddress(incoming);
      const isCounted = perMinute > 0 && incoming.method !== 'OPTIONS';
      const identified = callers.whoIs(incoming.headers.authorization, from.address);
      return 'then' in identified
        ? identified.catch(() => null).then((caller) => arrived(from, caller, identified, isCounted))
        : arrived(from, identified, identified, isCounted);
    },
    /** Says what came of looking at a request before it was one. */
    attachToRequest(request: Request, { address, identified }: AdmittedClient): void {
      setClientIp(request, address);
      callers.note(request, Promise.resolve(identified));
    },
    /** Notes where a request comes from, by its connection. */
    note(request: Request, incoming: IncomingMessage | undefined): void {
      if (incoming !== undefined) setClientIp(request, readAddress(incoming).address);
    },
    /** Whose budget a request is counted against. */
    accounts,
    /** Counts a request: the account with the least left decides. Null where nothing is counted. */
    spend: async (request: Request): Promise<RateLimitResult | null> =>
      perMinute === 0 ? null : consume(await accounts(request)),
  };
}

/** Why a request is refused before it runs, as metrics name it. */
export type RefusalReason = 'busy' | 'rate';

/** The result of the limit checks of a request that came over a connection. */
export interface LimitedRequest {
  readonly arrival: AdmittedClient;
  /** The body of a POST; an error when it is too large, undefined when it was not read. */
  readonly body: Buffer | GraphQLError | undefined;
  /** Whether there was room for it among the requests in flight. */
  readonly isBusy: boolean;
  /** Ends its count among the requests in flight before its response is closed: of a subscription. */
  readonly leave: () => void;
  /** Set by the response cache for an answer that others may wait for. */
  pending?: PendingResponse;
}

const limited = createPrivateField<IncomingMessage, LimitedRequest>();

/** What the limits have said of a request; undefined for monitoring, and for `gateway.fetch`. */
export const limitedRequestOf = (incoming: IncomingMessage | undefined): LimitedRequest | undefined =>
  incoming === undefined ? undefined : limited.get(incoming);

/** Bytes that the body of a caller may have. */
export const maxBodyBytes = (caller: Caller | null, { MAX_BODY_BYTES }: Config): number =>
  caller === null || caller.principal === null
    ? Math.min(MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES)
    : MAX_BODY_BYTES;

/**
 * The same listener behind the limits.
 *
 * @param onFault - called with an internal error; answers the request
 */
export function limitRequests(
  listener: RequestListener,
  config: Config,
  { admission, pressure }: Pick<AccessControl, 'admission' | 'pressure'>,
  onFault: (error: unknown, res: ServerResponse) => void,
): RequestListener {
  const readBody = createBodyReader();

  async function limit(req: IncomingMessage, res: ServerResponse & { req: IncomingMessage }): Promise<void> {
    const arrival = await admission.admit(req);
    const { caller, verdict } = arrival;
    const isPost = req.method === 'POST';
    // Its body is not even read.
    const isRefused = isPost && (verdict?.allowed === false || (config.proofNeeded && caller === null));
    let body: LimitedRequest['body'];
    let hasMemory = true;
    if (isPost && !isRefused) {
      const maxBytes = maxBodyBytes(caller, config);
      const read = await readBody(req, res, maxBytes);
      if (read === 'disconnected') return;
      hasMemory = read !== 'no_memory';
      if (Buffer.isBuffer(read)) body = read;
      else if (read === 'too_large') body = bodyTooLarge(maxBytes);
    }
    if (res.closed) return;
    const leave = isRefused || !hasMemory ? null : pressure.enter();
    if (leave) res.once('close', leave);
    const isBusy = leave === null && !isRefused;
    limited.set(req, { arrival, body, isBusy, leave: leave ?? (() => undefined) });
    listener(req, res);
  }

  return (req, res) => {
    if (isMonitoring(requestPath(req))) return listener(req, res);
    limit(req, res).catch((error: unknown) => onFault(error, res));
  };
}
