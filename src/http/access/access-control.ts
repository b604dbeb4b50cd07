// Access control of every transport: authentication, rate limits for each caller and address, load
// shedding.
import type { IncomingMessage } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { AccessCheck, Caller, Exchange, RateLimitResult, Refusal } from '../exchange.ts';
import type { ConnectionMetrics } from '../server/http-server.ts';
import { type Authenticator, createAuthenticator } from './authenticate.ts';
import { readClientAddress } from './client-address.ts';
import { createLoadShedder, type LoadShedder } from './load-shedding.ts';
import { openRateLimiters, rateLimitError } from './rate-limit.ts';

/** A client as its connection and headers show it. */
export interface Client {
  readonly method: string | undefined;
  /** The header; over WebSocket, its value from the parameters of the connection. */
  readonly authorization: string | undefined;
  /** Undefined for a request that came over no connection. */
  readonly address: string | undefined;
}

export interface AccessControl {
  readonly callers: Authenticator;
  readonly loadShedder: LoadShedder;
  readonly connections: ConnectionMetrics;
  /** The address of a client, from `x-forwarded-for` as far as TRUST_PROXY says. */
  clientAddress(incoming: Pick<IncomingMessage, 'headers' | 'socket'>): string;
  /** Authenticates a client and counts its request against the rate limits. */
  check(client: Client): Promise<AccessCheck>;
  /** Counts another request of the same caller. */
  countAgain(exchange: Exchange): Promise<RateLimitResult | null>;
  /**
   * The exchange of a caller who is authenticated again.
   *
   * @throws GraphQLError as `identifyCaller`
   */
  renew(exchange: Exchange): Promise<Exchange>;
  /** HTTP connections and WebSockets that are open. */
  openConnections(): number;
  close(): Promise<void>;
}

/**
 * Unverified tokens of one address share the rate limits of this many callers.
 */
const CALLERS_PER_ADDRESS = 10;

export function createAccessControl(
  config: Config,
  log: Logger,
  telemetry: Telemetry,
  metrics: Metrics,
  secret: string,
): AccessControl {
  const { RATE_LIMIT_PER_MINUTE: perMinute, TRUST_PROXY: hops, proofNeeded, limits } = config;
  const limiters = openRateLimiters(config.STORE_URL, (error) => telemetry.storeFailed('rates', error));
  const perCaller = limiters.create('caller', perMinute);
  const perAddress = limiters.create('address', perMinute);
  const unverifiedTokens = limiters.create('unverified', perMinute * CALLERS_PER_ADDRESS);
  const failures = limiters.create('failure', limits.authFailuresPerMinute);
  const callers = createAuthenticator(config, secret, failures, log);
  const loadShedder = createLoadShedder(config);
  let openConnections = 0;
  let hasWarned = false;

  /** Counts a request of a caller, or of an address without valid credentials. */
  async function count(
    caller: Caller | GraphQLError,
    address: string | undefined,
  ): Promise<RateLimitResult | null> {
    if (perMinute === 0) return null;
    if (caller instanceof GraphQLError || caller.principal === null)
      return address === undefined ? null : perAddress.consume(address);
    if (!caller.isProven && address !== undefined) {
      // Anybody can invent tokens.
      const all = await unverifiedTokens.consume(address);
      if (!all.isAllowed) return all;
    }
    return perCaller.consume(caller.principal);
  }

  return {
    callers,
    loadShedder,
    connections: {
      opened() {
        openConnections += 1;
      },
      closed() {
        openConnections -= 1;
      },
      dropped: () => metrics.cutOff.inc({ reason: 'too_many_connections' }),
    },
    clientAddress(incoming) {
      if (!hasWarned && hops === 0 && incoming.headers['x-forwarded-for'] !== undefined) {
        hasWarned = true;
        log.warn('a proxy forwards addresses, but TRUST_PROXY is 0: all who come through it count as one');
      }
      return readClientAddress(incoming, hops);
    },
    async check({ method, authorization, address }) {
      const caller = await callers.authenticate(authorization, address);
      const rate = method === 'OPTIONS' ? null : await count(caller, address);
      let refusal: Refusal | null = null;
      if (rate?.isAllowed === false) refusal = { reason: 'rate', error: rateLimitError(rate) };
      // Pages and public files are read without credentials.
      else if (proofNeeded && method === 'POST' && caller instanceof GraphQLError)
        refusal = { reason: 'credentials', error: caller };
      return { caller, rate, refusal };
    },
    countAgain: ({ caller, address }) => count(caller, address),
    renew: async (exchange) => ({ ...exchange, caller: await callers.reauthenticate(exchange) }),
    openConnections: () => openConnections,
    async close() {
      callers.close();
      loadShedder.close();
      await limiters.close();
    },
  };
}
