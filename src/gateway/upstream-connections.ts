// Outgoing connections to the upstream API and its file store, their host limiters, and the watch
// over the upstream's contract.

import { CollectWindow } from '../async/collect-window.ts';
import type { Config } from '../config.ts';
import { type ContractWatch, openContractMetrics, openContractWatch } from '../contract/watch.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { BreakerRules } from '../upstream/http/backoff.ts';
import type { CallRecord } from '../upstream/http/call-record.ts';
import { openPublicAgent } from '../upstream/http/download.ts';
import { defaultHostLimits, type HostLimiters, type HostLimits } from '../upstream/http/host-limiter.ts';
import { ping } from '../upstream/http/ping.ts';
import { checkPrefixes } from '../upstream/http/prefix.ts';
import { noteSandbox, prefixStates } from '../upstream/http/prefix-state.ts';
import { openAgent, type Upstream } from '../upstream/http/upstream-client.ts';
import { settingsOf } from '../upstream/settings.ts';
import type { GatewayOptions } from './options.ts';

/** Opens the service as one request, or a task without any, sees it. */
export type OpenUpstream = (
  requestId: string,
  token: string | undefined,
  signal: AbortSignal | undefined,
  from?: {
    readonly exchange: RequestRecord;
    readonly record: CallRecord | undefined;
    readonly principal: string | null;
  },
) => Upstream;

export type UpstreamConnections = ReturnType<typeof connectUpstream>;

/** The limits of each host, as configured. */
export const hostLimitsOf = (config: Config, breaker: BreakerRules | undefined): HostLimits => ({
  ...defaultHostLimits,
  inFlight: config.UPSTREAM_MAX_IN_FLIGHT,
  queue: config.UPSTREAM_MAX_QUEUE,
  ...(breaker === undefined ? {} : { breaker }),
});

/** Opens the connections. They connect on the first call. */
export function connectUpstream(
  { config, upstreamUrl, sandbox = false, log }: GatewayOptions,
  limiters: HostLimiters,
  metrics: Metrics,
  telemetry: Telemetry,
) {
  const agent = openAgent();
  const publicAgent = openPublicAgent();
  const settings = settingsOf(config, upstreamUrl);
  const downloads = { publicAgent, limiter: limiters.files };

  const openUpstream: OpenUpstream = (requestId, token, signal, from) => {
    const record = from?.record;
    const hooks = telemetry.upstreamHooks(requestId, from?.exchange);
    return {
      settings,
      agent,
      token,
      isGatewayKey: token !== undefined && token === config.UPSTREAM_API_KEY,
      requestId,
      signal,
      collecting: new CollectWindow(),
      absences: new Set(),
      onResponse: contract.onResponse,
      limiter: limiters.api,
      caller: from?.principal ?? undefined,
      ...hooks,
      ...(record === undefined
        ? {}
        : {
            ...record.hooks,
            onCall: (call) => {
              record.hooks.onCall(call);
              hooks.onCall(call);
            },
          }),
    };
  };

  const contract: ContractWatch = openContractWatch({
    openUpstream: (requestId, signal) => openUpstream(requestId, config.UPSTREAM_API_KEY, signal),
    baseUrl: upstreamUrl,
    downloads,
    sandbox,
    prefixes: { atlas: config.DOCTOR_ATLAS_PREFIXES, batch: config.DOCTOR_BATCH_PREFIXES },
    minutes: config.CONTRACT_CHECK_MINUTES,
    onDrift: (finding) => countDrift(finding),
    onError: (error) => log.error({ error }, 'contract'),
  });
  const countDrift = openContractMetrics(metrics.registers, contract.report);

  const known = prefixStates(settings);
  if (sandbox) known.isSandbox = true;
  const pingUpstream = async (milliseconds: number): Promise<void> =>
    noteSandbox(settings, await ping(agent, upstreamUrl, milliseconds));

  return {
    openUpstream,
    downloads,
    contract,
    /** Whether the upstream is a sandbox, as far as its answers have shown. */
    isSandbox: () => known.isSandbox === true,
    /** The same, after a request where there was no answer yet. @throws Error when it fails */
    async checkSandbox(): Promise<boolean> {
      if (known.isSandbox === undefined) await pingUpstream(config.REQUEST_TIMEOUT_MS);
      return known.isSandbox === true;
    },
    /** Whether the service can be reached at all. @throws Error when it cannot */
    async reach(milliseconds: number): Promise<void> {
      await pingUpstream(milliseconds);
      const token = config.UPSTREAM_API_KEY;
      const onCall = () => undefined;
      await checkPrefixes({ settings, agent, token, requestId: 'ready', signal: undefined, onCall });
    },
    async close(): Promise<void> {
      await contract.close();
      await Promise.all([agent.close(), publicAgent.close()]);
    },
  };
}
