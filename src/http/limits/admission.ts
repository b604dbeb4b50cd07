// Admission of every request, over any transport: which rate-limit buckets it is counted against,
// and whether they have tokens left.
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Authenticator, Caller } from '../auth/authenticate.ts';
import { clientIp, clientIpOf, type SocketInfo, setClientIp } from '../auth/node-request.ts';
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

export interface AdmissionOptions {
  readonly limit: RateLimit;
  /** Requests of an account with a share of 1; 0: any number. */
  readonly perMinute: number;
  /** Proxies in front that are believed. */
  readonly hops: number;
  /** Hashes an address: the limits need only equality. */
  readonly hide: (address: string) => string;
  readonly callers: Pick<Authenticator, 'identify' | 'whoIs' | 'note'>;
  /** Called once when a client forwards addresses although no proxy is trusted. */
  readonly onUnbelieved: () => void;
}

/** Addresses that need not be read and hidden anew with every request. */
const MAX_ADDRESSES = 10_000;

/** A hashed address with the buckets of a client without credentials. */
interface Place {
  readonly address: string;
  readonly accounts: readonly RateLimitBucket[];
}

/** Creates the admission control. */
export function openAdmission(options: AdmissionOptions) {
  const { limit, perMinute, hops, hide, callers, onUnbelieved } = options;
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
      onUnbelieved();
    }
    // Not keyed by the header itself, which a client can make long.
    const seen = hops === 0 ? String(socket.remoteAddress) : clientIp(incoming, hops);
    const known = addresses.get(seen);
    if (known !== undefined) return known;
    const address = hide(hops === 0 ? clientIp(incoming, hops) : seen);
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
