// What a request carries: who asks, the service as this request sees it, this request's loaders, and what the whole
// process shares. It decides nothing; gateway/request-context.ts makes one for each request.

import type { Config } from './config.ts';
import type { ContractWatch } from './doctor/watch.ts';
import type { BulkLookups } from './lookups/bulk.ts';
import type { ProgressHub } from './progress/progress-hub.ts';
import type { Ledger } from './store/ledger/ledger.ts';
import type { Submissions } from './store/ledger/submissions.ts';
import type { Logger } from './telemetry/log.ts';
import type { BatchOwnership } from './upstream/folds/batch-ownership.ts';
import type { BatchReader } from './upstream/folds/batch-reader.ts';
import type { FoldResults } from './upstream/folds/fold-results.ts';
import type { Downloads } from './upstream/http/download.ts';
import type { Upstream } from './upstream/http/upstream-client.ts';
import type { ProteinLoader } from './upstream/proteins/protein-loader.ts';
import type { Catalogue } from './upstream/reads/catalogue.ts';
import type { ClusterLoader } from './upstream/reads/cluster-loader.ts';
import type { FeatureLoader } from './upstream/reads/feature-loader.ts';
import type { SimilarityLoader } from './upstream/reads/similarity-loader.ts';
import type { Thumbnails } from './upstream/reads/thumbnails.ts';
import type { UniprotLoader } from './upstream/reads/uniprot-loader.ts';

/** What all requests of a process share. */
export interface Services {
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly thumbnails: Thumbnails;
  readonly downloads: Downloads;
  /** What was submitted here: `openLedger(config.LEDGER_URL)`; close it when the process ends. */
  readonly ledger: Ledger;
  /** Progress of batches for all who watch them. */
  readonly live: ProgressHub;
  /** Bulk look-ups, which go on without any request. */
  readonly bulk: BulkLookups;
  /** What is known of the upstream's contract. */
  readonly contract: ContractWatch;
  readonly log: Logger;
  /** Writes down and counts that the store failed. */
  readonly storeFailed: (store: string, error: unknown, requestId?: string) => void;
}

/** What the resolvers of one request are given. */
export interface GatewayContext {
  readonly services: Services;
  /** Sent upstream with every call and answered in `x-request-id`. */
  readonly requestId: string;
  /** Keyed hash of the bearer token; null for a caller without one. Everything of the Batch API is kept by it. */
  readonly principal: string | null;
  /** What the caller keeps here, such as bulk look-ups, is counted against this account. */
  readonly storageAccount: string;
  /** Whether the federation router asks, proven by FEDERATION_TOKEN. */
  readonly isRouter: boolean;
  /** Where this gateway can be reached by the caller, without a final slash: the start of every URL it hands out. */
  readonly publicUrl: string;
  readonly upstream: Upstream;
  /** Aborted when the client has left; unlike `upstream.signal` it knows no deadline. */
  readonly clientSignal: AbortSignal;
  /**
   * The same caller with loaders and a deadline of its own: for the next event of a subscription.
   *
   * @returns makes the context, which whoever is given another's answer need not
   * @throws GraphQLError UNAUTHENTICATED when the proof has ended or was taken back since
   */
  fresh(): Promise<() => GatewayContext>;
  readonly proteins: ProteinLoader;
  readonly clusters: ClusterLoader;
  readonly features: FeatureLoader;
  readonly searches: SimilarityLoader;
  readonly uniprot: UniprotLoader;
  /** The caller's part of the ledger: `createSubmissions(ledger, principal, keyIsShared)`. */
  readonly submissions: Submissions;
  /** What the caller may read and cancel: `createOwned(submissions)`. */
  readonly owned: BatchOwnership;
  /** List and Status, each question once: `createBatchReader(upstream, owned)`. */
  readonly batches: BatchReader;
  /** Results behind signed URLs: `createFoldResults(upstream, downloads, batches, submissions)`. */
  readonly folds: FoldResults;
}
