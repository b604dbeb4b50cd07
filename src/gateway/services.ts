// Creates what all requests of a process share: stores, read caches, batch progress and bulk
// look-ups.
import { createUnderway } from '../async/single-flight.ts';
import type { Services } from '../context.ts';
import { shownUrl } from '../contract/report.ts';
import { createSignedLinks } from '../http/auth/signed-links.ts';
import { openBulkLookups } from '../lookups/bulk.ts';
import { createProgressHub } from '../progress/progress-hub.ts';
import { openSharedCache } from '../store/cache/shared-cache.ts';
import { openDocuments } from '../store/documents/leased-documents.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createLoaderFactory } from '../upstream/reads/loaders.ts';
import type { GatewayOptions } from './options.ts';
import type { UpstreamConnections } from './upstream-connections.ts';

export type SharedServices = ReturnType<typeof createServices>;

/**
 * Opens the shared services. A store that does not answer is detected later, by `ledger.check()`.
 *
 * @param secret - the key that all replicas share
 */
export function createServices(
  { config, log, upstreamUrl, pace }: GatewayOptions,
  telemetry: Telemetry,
  connections: UpstreamConnections,
  secret: string,
) {
  const { downloads, openUpstream, contract, isSandbox, checkSandbox } = connections;
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
  const ledger = openLedger(config.LEDGER_URL, { onError: onLost });
  const live = createProgressHub({
    documents,
    onError: (error) => telemetry.storeFailed('documents', error),
    ...(pace === undefined ? {} : { pace }),
  });
  const bulk = openBulkLookups({
    documents,
    limits: {
      runningPerCaller: config.MAX_BULK_RUNNING_PER_CALLER,
      keptPerCaller: config.MAX_BULK_KEPT_PER_CALLER,
      bytesPerCaller: config.MAX_BULK_MB_PER_CALLER * 1_000_000,
      running: config.MAX_BULK_RUNNING,
      bytes: config.MAX_BULK_MB * 1_000_000,
    },
    onError: (error) => log.error({ error }, 'bulk look-up'),
    openUpstream: (requestId, callSignal) => openUpstream(requestId, undefined, callSignal),
  });
  const { catalogue, thumbnails, loaders } = reads;
  const { storeFailed } = telemetry;
  const links = createSignedLinks(secret);
  const scoreReads = new Map<string, Promise<unknown>>();
  const submitting = createUnderway();
  const kept = { ledger, live, scoreReads, submitting, bulk, contract, links, log, storeFailed };
  const upstream = { url: shownUrl(upstreamUrl), isSandbox, checkSandbox };
  const services: Services = { config, upstream, catalogue, thumbnails, downloads, ...kept };
  return {
    services,
    /** Loaders for a request, over what the process keeps. */
    loaders,
    /** Ends every stream, and every one that is still opened. */
    endStreams() {
      live.close();
      bulk.endWatches();
    },
    /** Ends what goes on without a request. */
    async stop() {
      live.close();
      await bulk.close();
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
