// The outgoing connections to the service and its file store, and the service as one request sees
// it.
import { type Dispatcher, request } from 'undici';
import { type Clock, systemClock } from '../async/clock.ts';
import type { Config } from '../config.ts';
import { USER_AGENT } from '../package.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type BreakerRules, defaultBreakerRules } from '../upstream/http/breaker.ts';
import type { Upstream, UpstreamResponse } from '../upstream/http/call.ts';
import { openServiceConnections, type ServiceConnections } from '../upstream/http/connections.ts';
import type { HostLimiters, HostLimits } from '../upstream/http/host-limiter.ts';
import { detectSandbox, isSandbox, setSandbox, toUpstreamSettings } from '../upstream/settings.ts';

/** Opens the service as one request, or work without any, sees it. */
export type OpenUpstream = (
  requestId: string,
  token: string | undefined,
  signal: AbortSignal | undefined,
  record?: RequestRecord,
  caller?: string,
) => Upstream;

export interface UpstreamConnections {
  readonly openUpstream: OpenUpstream;
  /** Whether the service is a sandbox, as far as its answers have shown. */
  isSandbox(): boolean;
  /** The same, after a request where there was no answer yet. @throws Error when it fails */
  checkSandbox(): Promise<boolean>;
  /** Checks that the service can be reached at all. @throws Error when it cannot */
  reach(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

export const toHostLimits = (config: Config, breaker: BreakerRules = defaultBreakerRules): HostLimits => ({
  inFlight: config.UPSTREAM_MAX_IN_FLIGHT,
  queue: config.limits.upstreamQueue,
  breaker,
});

/** Statuses of a proxy without a backend. */
const NO_BACKEND = new Set([502, 503, 504]);

/**
 * Requests the bare address; any answer shows that the service is there.
 *
 * @param milliseconds - time limit
 * @returns status and headers of the answer
 * @throws Error that says why it cannot be reached, without an address
 */
async function ping(
  { pool }: ServiceConnections,
  baseUrl: string,
  milliseconds: number,
): Promise<Pick<UpstreamResponse, 'status' | 'headers'>> {
  const signal = AbortSignal.timeout(milliseconds);
  let answer: Dispatcher.ResponseData;
  try {
    const headers = { 'user-agent': USER_AGENT };
    answer = await request(baseUrl, { dispatcher: pool, method: 'HEAD', headers, signal });
    await answer.body.dump();
  } catch (error) {
    if (signal.aborted) throw new Error(`did not answer within ${milliseconds} ms`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`cannot be reached (${code})`);
  }
  const { statusCode: status, headers } = answer;
  if (NO_BACKEND.has(status)) throw new Error(`answers HTTP ${status}`);
  return { status, headers };
}

/**
 * Opens the connections. They connect on the first call.
 *
 * @param upstreamUrl - without a final slash
 * @param sandbox - whether the service is the embedded sandbox
 */
export function connectUpstream(
  {
    config,
    upstreamUrl,
    sandbox = false,
    clock = systemClock,
    connections = openServiceConnections(),
  }: UpstreamOptions,
  limiters: HostLimiters,
  telemetry: Telemetry,
): UpstreamConnections {
  const settings = toUpstreamSettings(config, upstreamUrl);
  const { UPSTREAM_API_KEY: gatewayKey } = config;

  if (sandbox) setSandbox(settings);
  const reach = async (milliseconds: number): Promise<void> =>
    detectSandbox(settings, await ping(connections, upstreamUrl, milliseconds));

  return {
    openUpstream: (requestId, token, signal, record, caller) => ({
      settings,
      connections,
      token,
      isGatewayKey: token !== undefined && token === gatewayKey,
      requestId,
      signal,
      clock,
      absences: new Set(),
      limiters,
      caller,
      ...telemetry.upstreamHooks(requestId, record),
    }),
    isSandbox: () => isSandbox(settings) === true,
    async checkSandbox() {
      if (isSandbox(settings) === undefined) await reach(config.REQUEST_TIMEOUT_MS);
      return isSandbox(settings) === true;
    },
    reach,
    close: connections.close,
  };
}

interface UpstreamOptions {
  readonly config: Config;
  readonly upstreamUrl: string;
  readonly sandbox?: boolean;
  readonly clock?: Clock;
  readonly connections?: ServiceConnections;
}
