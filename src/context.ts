// The request context that resolvers are given: the caller, its service client and loaders, and the
// services of the process. gateway/request-context.ts creates one for each request.
import type { Clock } from './async/clock.ts';
import type { PendingWork } from './async/pending-work.ts';
import type { SingleFlight } from './async/single-flight.ts';
import type { Config } from './config.ts';
import type { BulkLookups } from './lookups/bulk-lookup.ts';
import type { ProgressHub } from './progress/progress-hub.ts';
import type { Webhooks } from './progress/webhooks.ts';
import type { Ledger } from './store/ledger/ledger.ts';
import type { Submissions } from './store/ledger/submissions.ts';
import type { Logger } from './telemetry/log.ts';
import type { BatchOwnership, BatchReader } from './upstream/folds/batch-reader.ts';
import type { FoldResults } from './upstream/folds/fold-results.ts';
import type { Upstream } from './upstream/http/call.ts';
import type { ProteinLoader } from './upstream/proteins/loader.ts';
import type { FeatureLoader, UniprotLoader } from './upstream/reads/cached-reads.ts';
import type { Catalogue } from './upstream/reads/catalogue.ts';
import type { ClusterLoader } from './upstream/reads/cluster-loader.ts';
import type { SimilarityLoader } from './upstream/reads/similarity-loader.ts';
import type { Thumbnails } from './upstream/reads/thumbnails.ts';

/** Shared by all requests of a process. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly upstream: {
    /** Its address without credentials. */
    readonly url: string;
    /** Whether it is a sandbox, as far as its answers have shown. */
    isSandbox(): boolean;
    /** The same; asks the service where it has not answered yet. @throws Error when that fails */
    checkSandbox(): Promise<boolean>;
  };
  readonly catalogue: Catalogue;
  readonly thumbnails: Thumbnails;
  /**
   * Submissions of this gateway: `openLedger(config.LEDGER_URL)`; close it when the process ends.
   */
  readonly ledger: Ledger;
  /** Shared progress of watched batches. */
  readonly live: ProgressHub;
  /** Null where webhooks are off. */
  readonly webhooks: Webhooks | null;
  /**
   * Single-flight: requests that need scores of one batch at the same time read each result once.
   */
  readonly scoreReads: SingleFlight;
  /** Submissions in flight, which continue when their clients disconnect. */
  readonly submitting: PendingWork;
  /** Bulk look-ups: `createBulkLookups(documents)`. */
  readonly lookups: BulkLookups;
  /** Seals and opens addresses of files that need no token. */
  readonly links: SignedLinks;
  readonly log: Logger;
  /** Logs and counts a failure of the store. */
  readonly storeFailed: (store: string, error: unknown, requestId?: string) => void;
}

/** A signed link grants reading the file at its path. */
export interface LinkClaim {
  /** The caller for whom it was made; null without a token. */
  readonly principal: string | null;
  /** Where the service keeps the file, signed by the service; null for public data. */
  readonly url: string | null;
}

export type LinkRefusal = 'invalid' | 'expired';

export interface SignedLinks {
  /**
   * The path that opens a file without a token: /signed/{signature}, then the path of the file.
   *
   * @param path - of the file, such as /tasks/{id}/structure.cif
   */
  seal(path: string, claim: LinkClaim): string;
  /** The claim of a signature for a path; the reason when it grants nothing. */
  open(path: string, signature: string): LinkClaim | LinkRefusal;
}

/** The context that resolvers get with each request. */
export interface GatewayContext {
  readonly services: Services;
  /** Sent upstream with every call and answered in `x-request-id`. */
  readonly requestId: string;
  /**
   * Keyed hash of the bearer token, the owner of its batches; null for a caller without a token.
   */
  readonly principal: string | null;
  /** Whether the federation router asks, proven by FEDERATION_TOKEN. */
  readonly isRouter: boolean;
  /**
   * The gateway's URL as the caller reaches it, without a final slash: the start of every URL in an
   * answer.
   */
  readonly publicUrl: string;
  /** Whether `publicUrl` was read and begins with the Host header of the request. */
  readonly dependsOnHost: boolean;
  readonly upstream: Upstream;
  /** Aborted when the client disconnects; unlike `upstream.signal` it has no deadline. */
  readonly clientSignal: AbortSignal;
  /**
   * Prepares a context for the next event of a subscription: same caller, new loaders, new
   * deadline.
   *
   * @returns creates the context; a stream that shares another's result need not call it
   * @throws GraphQLError UNAUTHENTICATED when the credentials have expired or were revoked since
   */
  fresh(): Promise<() => GatewayContext>;
  readonly proteins: ProteinLoader;
  readonly clusters: ClusterLoader;
  readonly features: FeatureLoader;
  readonly searches: SimilarityLoader;
  readonly uniprot: UniprotLoader;
  /** The caller's part of the ledger: `createSubmissions`. */
  readonly submissions: Submissions;
  /** The batches that the caller may read and cancel: `createBatchOwnership(submissions)`. */
  readonly owned: BatchOwnership;
  /** List and Status, each question once: `createBatchReader(upstream, owned)`. */
  readonly batches: BatchReader;
  /** Results behind signed URLs: `createFoldResults(upstream, batches, submissions)`. */
  readonly folds: FoldResults;
}
