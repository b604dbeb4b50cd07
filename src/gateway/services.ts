// The services that all requests of a gateway share: stores, read caches, batch progress, webhooks
// and bulk look-ups; and the options of a gateway besides its configuration.
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../async/clock.ts';
import { createPendingWork } from '../async/pending-work.ts';
import { createSingleFlight } from '../async/single-flight.ts';
import type { GatewayLimits } from '../config/limits.ts';
import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import { createSignedLinks } from '../http/access/signed-links.ts';
import type { Caller } from '../http/exchange.ts';
import { createBulkLookups } from '../lookups/bulk-lookup.ts';
import type { PollScheduleOptions } from '../progress/poll-schedule.ts';
import { createProgressHub } from '../progress/progress-hub.ts';
import { createWebhooks, type WebhookTimes } from '../progress/webhooks.ts';
import { openSharedCache } from '../store/cache/shared-cache.ts';
import { openDocuments } from '../store/documents.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import { createPrincipalMover, formerNames } from '../store/ledger/principals.ts';
import { UnusableStoreError } from '../store/unusable-store.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { BreakerRules } from '../upstream/http/breaker.ts';
import type { Upstream } from '../upstream/http/call.ts';
import type { ServiceConnections } from '../upstream/http/connections.ts';
import { type AtlasCaches, createAtlasCaches } from '../upstream/reads/caches.ts';
import { openCatalogue } from '../upstream/reads/catalogue.ts';
import { type Loaders, RequestLoaders } from '../upstream/reads/loaders.ts';
import { createThumbnails } from '../upstream/reads/thumbnails.ts';
import { withoutCredentials } from '../upstream/settings.ts';
import type { UpstreamConnections } from './upstream.ts';

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
  /** How often webhooks are tried. */
  readonly webhookTimes?: WebhookTimes;
  /** When the upstream counts as failing, and for how long it is then left alone. */
  readonly breaker?: BreakerRules;
  /** Limits that no setting changes, where they should not be the usual ones. */
  readonly limits?: Partial<GatewayLimits>;
  /** Milliseconds between two signs of life in a silent event stream; 12,000 when absent. */
  readonly pulseMs?: number;
  /** Time and randomness of what handles money and batches. */
  readonly clock?: Clock;
  /** Connections to the service and to receivers of webhooks; to the network when absent. */
  readonly connections?: ServiceConnections;
}

/** The services of a process, and what opens and closes them. */
export interface SharedServices {
  readonly services: Services;
  /** Estimated bytes of the caches of Atlas answers, by name. */
  readonly cacheBytes: AtlasCaches['bytes'];
  /** Loaders for a request, over the caches of the process. */
  loaders(up: Upstream): Loaders;
  /** The names of a caller under former secrets. */
  formerNames(identity: string | null): readonly string[];
  /** Moves what a caller stored under former secrets. @throws what the store failed with */
  movePrincipal(caller: Pick<Caller, 'identity' | 'principal'>): Promise<void>;
  /** Ends every stream, those that are opened from now on, and the work for webhooks. */
  endStreams(): void;
  /** Closes the stores, after everything that writes. */
  closeStores(): Promise<void>;
}

/**
 * Opens the shared services. A store that does not answer is detected later, by `ledger.check()`.
 *
 * @param secret - GATEWAY_SECRET, or what stands in for it
 */
export function createServices(
  { config, log, upstreamUrl, pace, webhookTimes, clock = systemClock }: GatewayOptions,
  telemetry: Telemetry,
  connections: UpstreamConnections,
  secret: string,
): SharedServices {
  const { isSandbox, checkSandbox } = connections;
  const onCacheError = (error: unknown) => telemetry.storeFailed('cache', error);
  // A ledger that is connected again may have lost its past.
  const onLost = (error: unknown) =>
    telemetry.storeFailed(error instanceof UnusableStoreError ? 'ledger' : 'connection', error);
  const store = openSharedCache(config.STORE_URL, onCacheError);
  const caches = createAtlasCaches({
    recordSeconds: config.CACHE_RECORDS_SECONDS,
    store,
    onError: onCacheError,
    onLookup: telemetry.cacheLookup,
  });
  const { storeNow: now } = clock;
  const storeOptions = { onError: onLost, clock, ...(now === undefined ? {} : { now }) };
  const secrets = { current: secret, previous: config.GATEWAY_SECRET_PREVIOUS };
  // Before anything makes the file anew: the ledger looks whether it was removed.
  const ledger = openLedger(config.LEDGER_URL, secrets, storeOptions);
  const needsReplica = () => ledger.needsReplica?.() === true;
  const documents = openDocuments(config.LEDGER_URL, { ...storeOptions, needsReplica });
  const onDocumentError = (error: unknown) => telemetry.storeFailed('documents', error);
  const live = createProgressHub({
    documents,
    clock,
    onError: onDocumentError,
    ...(pace === undefined ? {} : { pace }),
  });
  const webhooks =
    config.WEBHOOK_HOSTS.length === 0
      ? null
      : createWebhooks({
          ...{ documents, live, clock, onError: onDocumentError, onReport: telemetry.webhookTried },
          openUpstream: (token, caller) =>
            connections.openUpstream(randomUUID(), token, undefined, undefined, caller),
          gatewayKey: config.UPSTREAM_API_KEY,
          formerNames: (identity) => formerNames(secrets, identity),
          hosts: config.WEBHOOK_HOSTS,
          secrets: config.WEBHOOK_SECRET,
          ...(webhookTimes === undefined ? {} : { times: webhookTimes }),
        });
  const submitting = createPendingWork();
  const services: Services = {
    config,
    clock,
    log,
    upstream: { url: withoutCredentials(upstreamUrl), isSandbox, checkSandbox },
    catalogue: openCatalogue(caches.catalogue),
    thumbnails: createThumbnails(caches.thumbnails),
    ledger,
    live,
    webhooks,
    scoreReads: createSingleFlight(),
    submitting,
    lookups: createBulkLookups(documents, onDocumentError),
    links: createSignedLinks(secret),
    storeFailed: telemetry.storeFailed,
  };
  return {
    services,
    cacheBytes: caches.bytes,
    loaders: (up) => new RequestLoaders(up, caches),
    formerNames: (identity) => formerNames(secrets, identity),
    movePrincipal: createPrincipalMover(ledger, secrets),
    endStreams() {
      void webhooks?.close();
      void live.close();
    },
    async closeStores() {
      await submitting.ended();
      await webhooks?.close();
      await live.close();
      await ledger.close();
      await documents.close();
      await store?.close();
    },
  };
}
