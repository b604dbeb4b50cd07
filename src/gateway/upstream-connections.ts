// Outgoing connections to the upstream API and its file store, their host limiters, and the watch
// over the upstream's contract.

import { CollectWindow } from '../async/collect-window.ts';
import type { Config } from '../config.ts';
import { type ContractWatch, openContractMetrics, openContractWatch } from '../contract/watch.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { BreakerRules } from '../upstream/http/backoff.ts';
import type { CallRecord } from '../upstream/http/call-record.ts';
import { type Downloads, openPublicAgent } from '../upstream/http/download.ts';
import { defaultHostLimits, type Gates, openGates } from '../upstream/http/host-limiter.ts';
import { ping } from '../upstream/http/ping.ts';
import { checkPrefixes } from '../upstream/http/prefix.ts';
import { noteSandbox, prefixStates } from '../upstream/http/prefix-state.ts';
import { openAgent, type Upstream } from '../upstream/http/upstream-client.ts';
import { settingsOf } from '../upstream/settings.ts';

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

export interface UpstreamConnections {
  readonly openUpstream: OpenUpstream;
  readonly downloads: Downloads;
  readonly contract: ContractWatch;
  /** Whether the upstream is a sandbox, as far as its answers have shown. */
  isSandbox(): boolean;
  /** The same, after a request where there was no answer yet. @throws Error when it fails */
  checkSandbox(): Promise<boolean>;
  /** Whether the service can be reached at all. @throws Error when it cannot */
  reach(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

export interface UpstreamConnectionsOptions {
  readonly config: Config;
  readonly upstreamUrl: string;
  readonly sandbox: boolean;
  readonly log: Logger;
  readonly gates: Gates;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
}

/** The gates to the service and to the hosts of files, as configured. */
export const createHostLimiters = (config: Config, breaker: BreakerRules | undefined): Gates =>
  openGates({
    ...defaultHostLimits,
    inFlight: config.UPSTREAM_MAX_IN_FLIGHT,
    queue: config.UPSTREAM_MAX_QUEUE,
    ...(breaker === undefined ? {} : { breaker }),
  });

/** Opens the connections. They connect on the first call. */
export function connectUpstream(options: UpstreamConnectionsOptions): UpstreamConnections {
  const { config, upstreamUrl, sandbox, log, gates, metrics, telemetry } = options;
  const agent = openAgent();
  const publicAgent = openPublicAgent();
  const settings = settingsOf(config, upstreamUrl);
  const downloads = { publicAgent, gate: gates.files };

  const openUpstream: OpenUpstream = (requestId, token, signal, from) => {
    const record = from?.record;
    const hooks = telemetry.upstreamHooks(requestId, from?.exchange);
    return {
      settings,
      agent,
      token,
      requestId,
      signal,
      collecting: new CollectWindow(),
      onResponse: contract.onResponse,
      gate: gates.api,
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
    isSandbox: () => known.isSandbox === true,
    async checkSandbox() {
      if (known.isSandbox === undefined) await pingUpstream(config.REQUEST_TIMEOUT_MS);
      return known.isSandbox === true;
    },
    async reach(milliseconds) {
      await pingUpstream(milliseconds);
      const token = config.UPSTREAM_API_KEY;
      await checkPrefixes({
        settings,
        agent,
        token,
        requestId: 'ready',
        signal: undefined,
        onCall: () => undefined,
      });
    },
    async close() {
      await contract.close();
      await Promise.all([agent.close(), publicAgent.close()]);
    },
  };
}
