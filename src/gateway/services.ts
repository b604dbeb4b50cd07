// What all requests of a gateway share: the outgoing connections to the upstream API and its file store with
// their host limiters; stores, read caches, batch progress and
// bulk look-ups. And what a gateway is made of besides its configuration.
import { createSingleFlight, createUnderway } from '../async/single-flight.ts';
import type { GatewayLimits } from '../config/limits.ts';
import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import { createSignedLinks } from '../http/auth/signed-links.ts';
import { createBulkLookups } from '../lookups/bulk-lookup.ts';
import type { PollScheduleOptions } from '../progress/poll-schedule.ts';
import { createProgressHub } from '../progress/progress-hub.ts';
import { openSharedCache } from '../store/cache/shared-cache.ts';
import { openDocuments } from '../store/documents.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import { createPrincipalMover } from '../store/ledger/principals.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Tracing } from '../telemetry/trace-context.ts';
import type { BreakerRules } from '../upstream/http/breaker.ts';
import { openServiceConnections, ping } from '../upstream/http/connections.ts';
import { openPublicAgent } from '../upstream/http/download.ts';
import { defaultHostLimits, type HostLimiters, type HostLimits } from '../upstream/http/host-limiter.ts';
import { createLoaderFactory } from '../upstream/reads/loaders.ts';
import { isSandbox, noteSandbox, setSandbox, settingsOf, shownUrl } from '../upstream/settings.ts';
import { createUpstreamOpener } from './request-context.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** {base_url} of the service, without a final slash. */
  readonly upstreamUrl: string;
  readonly log: Logger;
  /**
   * Whether the upstream is the embedded sandbox. Over any sandbox every answer has the header
   * `x-sandbox`.
   */
  readonly sandbox?: boolean;
  /** Records traces; the caller that created it closes it. */
  readonly tracing?: Tracing | undefined;
  /** How often watched batches are polled; 2 to 30 seconds when absent. */
  readonly pace?: PollScheduleOptions;
  /** When the upstream counts as failing, and for how long it is then left alone. */
  readonly breaker?: BreakerRules;
  /** Limits that no setting changes, where they should not be the usual ones. */
  readonly limits?: Partial<GatewayLimits>;
  /** Milliseconds between two signs of life in a silent event stream; 12,000 when absent. */
  readonly pulseMs?: number;
}

export type UpstreamConnections = ReturnType<typeof connectUpstream>;

export const hostLimitsOf = (config: Config, breaker: BreakerRules | undefined): HostLimits => ({
  ...defaultHostLimits,
  inFlight: config.UPSTREAM_MAX_IN_FLIGHT,
  queue: config.limits.upstreamQueue,
  ...(breaker === undefined ? {} : { breaker }),
});

/** Opens the connections. They connect on the first call. */
export function connectUpstream(
  { config, upstreamUrl, sandbox = false }: GatewayOptions,
  limiters: HostLimiters,
  telemetry: Telemetry,
) {
  const connections = openServiceConnections();
  const publicAgent = openPublicAgent();
  const settings = settingsOf(config, upstreamUrl);
  const downloads = { publicAgent, limiter: limiters.files };

  const openUpstream = createUpstreamOpener(
    { settings, connections, limiter: limiters.api },
    telemetry,
    config.UPSTREAM_API_KEY,
  );

  if (sandbox) setSandbox(settings);
  const pingUpstream = async (milliseconds: number): Promise<void> =>
    noteSandbox(settings, await ping(connections, upstreamUrl, milliseconds));

  return {
    openUpstream,
    downloads,
    /** Whether the upstream is a sandbox, as far as its answers have shown. */
    isSandbox: () => isSandbox(settings) === true,
    /** The same, after a request where there was no answer yet. @throws Error when it fails */
    async checkSandbox(): Promise<boolean> {
      if (isSandbox(settings) === undefined) await pingUpstream(config.REQUEST_TIMEOUT_MS);
      return isSandbox(settings) === true;
    },
    /** Whether the service can be reached at all. @throws Error when it cannot */
    reach: pingUpstream,
    async close(): Promise<void> {
      await Promise.all([connections.close(), publicAgent.close()]);
    },
  };
}

export type SharedServices = ReturnType<typeof createServices>;

/**
 * Opens the shared services. A store that does not answer is detected later, by `ledger.check()`.
 *
 * @param secret - GATEWAY_SECRET, or what stands in for it
 */
export function createServices(
  { config, log, upstreamUrl, pace }: GatewayOptions,
  telemetry: Telemetry,
  connections: UpstreamConnections,
  secret: string,
) {
  const { downloads, isSandbox, checkSandbox } = connections;
  const onCacheError = (error: unknown) => telemetry.storeFailed('cache', error);
  const onLost = (error: unknown) => telemetry.storeFailed('connection', error);
  const store = openSharedCache(config.STORE_URL, onCacheError);
  const reads = createLoaderFactory({
    recordSeconds: config.CACHE_RECORDS_SECONDS,
    downloads,
    store,
    onError: onCacheError,
    onLookup: telemetry.cacheLookup,
  });
  const documents = openDocuments(config.LEDGER_URL, { onError: onLost });
  const secrets = { current: secret, previous: config.GATEWAY_SECRET_PREVIOUS };
  const ledger = openLedger(config.LEDGER_URL, secrets, { onError: onLost });
  const live = createProgressHub({
    documents,
    onError: (error) => telemetry.storeFailed('documents', error),
    ...(pace === undefined ? {} : { pace }),
  });
  const { catalogue, thumbnails, loaders } = reads;
  const { storeFailed } = telemetry;
  const links = createSignedLinks(secret);
  const scoreReads = createSingleFlight();
  const submitting = createUnderway();
  const lookups = createBulkLookups(documents, (error) => telemetry.storeFailed('documents', error));
  const kept = { ledger, live, scoreReads, submitting, lookups, links, log, storeFailed };
  const upstream = { url: shownUrl(upstreamUrl), isSandbox, checkSandbox };
  const services: Services = { config, upstream, catalogue, thumbnails, downloads, ...kept };
  return {
    services,
    /** Loaders for a request, over what the process keeps. */
    loaders,
    /** Moves what a caller stored under a former secret. */
    moveFormer: createPrincipalMover(ledger, secrets),
    /** Ends every stream, and every one that is still opened. */
    endStreams() {
      live.close();
    },
    /** Ends what goes on without a request. */
    stop() {
      live.close();
    },
    /** Closes the stores: after everything that writes. */
    async closeStores() {
      await submitting.ended();
      await ledger.close();
      await documents.close();
      await store?.close();
    },
  };
}
