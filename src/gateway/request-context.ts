// Creates the request context: the caller, an upstream client that acts for this caller, and
// per-request loaders.

import { startDeadline } from '../async/deadline.ts';
import { executionTurns } from '../async/turn-clock.ts';
import type { GatewayContext } from '../context.ts';
import type { Authenticator, Caller } from '../http/auth/authenticate.ts';
import { clientIpOf } from '../http/auth/node-request.ts';
import { isFederationRouter } from '../http/auth/shared-secrets.ts';
import type { OpenLink } from '../http/auth/signed-links.ts';
import { storageAccountOf } from '../http/limits/rate-limit.ts';
import { callRecordOf } from '../http/plugins/use-telemetry.ts';
import { createSubmissions } from '../store/ledger/submissions.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { createBatchOwnership, createBatchReader } from '../upstream/folds/batch-reader.ts';
import { createFoldResults } from '../upstream/folds/fold-results.ts';
import type { CallRecord } from '../upstream/http/call-record.ts';
import type { Loaders } from '../upstream/reads/loaders.ts';
import type { SharedServices } from './services.ts';
import type { OpenUpstream } from './upstream-connections.ts';

/** The caller of a request and its deadline. */
interface RequestInfo {
  readonly caller: Caller;
  /** Where the request came from, hidden; absent for one that came over no connection. */
  readonly address?: string | undefined;
  readonly exchange: RequestRecord;
  /** Aborted when the time is up, or when the client has left. */
  readonly signal: AbortSignal;
  /** Aborted when the client has left. */
  readonly clientSignal: AbortSignal;
  /** Such as `http://127.0.0.1:4000`. */
  readonly origin: string;
  readonly isRouter: boolean;
  /** Where what the request costs upstream is written down, if its caller wants to be told. */
  readonly record?: CallRecord | undefined;
  fresh: GatewayContext['fresh'];
}

export interface Contexts {
  /**
   * Creates the context of a request.
   *
   * @throws GraphQLError UNAUTHENTICATED when its credentials are invalid
   */
  open(request: Request): Promise<GatewayContext>;
  readonly openLink: OpenLink;
}

/** Makes the context of a request. */
export type OpenContext = Contexts['open'];

export interface ContextSources extends Pick<SharedServices, 'services' | 'loaders'> {
  readonly callers: Authenticator;
  readonly telemetry: Telemetry;
  readonly openUpstream: OpenUpstream;
}

/**
 * Request context whose parts are created on first use: most requests use one or two. A class,
 * because an object literal with getters is ten times as slow to create.
 */
class LazyContext implements GatewayContext {
  readonly services;
  readonly requestId;
  readonly principal;
  readonly storageAccount;
  readonly isRouter;
  readonly publicUrl;
  readonly upstream;
  readonly clientSignal;
  readonly fresh;
  private readonly exchange: RequestRecord;
  private readonly loaders: Loaders;
  private ownSubmissions: GatewayContext['submissions'] | undefined;
  private ownOwned: GatewayContext['owned'] | undefined;
  private ownBatches: GatewayContext['batches'] | undefined;
  private ownFolds: GatewayContext['folds'] | undefined;

  constructor({ services, loaders, openUpstream }: ContextSources, asker: RequestInfo) {
    const { exchange, signal, record, caller, isRouter, clientSignal, origin, fresh } = asker;
    const { token, principal } = caller;
    this.storageAccount = storageAccountOf(caller, asker.address);
    exchange.principal = principal;
    this.exchange = exchange;
    this.services = services;
    this.requestId = exchange.requestId;
    this.principal = principal;
    this.isRouter = isRouter;
    this.publicUrl = services.config.PUBLIC_URL ?? origin;
    this.clientSignal = clientSignal;
    this.fresh = fresh;
    this.upstream = openUpstream(exchange.requestId, token, signal, { record, exchange, principal });
    this.loaders = loaders(this.upstream);
  }
  get proteins() {
    return this.loaders.proteins;
  }
  get clusters() {
    return this.loaders.clusters;
  }
  get features() {
    return this.loaders.features;
  }
  get searches() {
    return this.loaders.searches;
  }
  get uniprot() {
    return this.loaders.uniprot;
  }
  get submissions() {
    const { ledger, config } = this.services;
    this.ownSubmissions ??= createSubmissions(ledger, this.principal, config.proofNeeded);
    return this.ownSubmissions;
  }
  get owned() {
    this.ownOwned ??= createBatchOwnership(this.submissions);
    return this.ownOwned;
  }
  get batches() {
    this.ownBatches ??= createBatchReader(this.upstream, this.owned);
    return this.ownBatches;
  }
  get folds() {
    const { downloads } = this.services;
    const { onEnd: lettingGo } = this.exchange;
    this.ownFolds ??= createFoldResults(this.upstream, downloads, this.batches, this.submissions, (close) =>
      lettingGo.push(close),
    );
    return this.ownFolds;
  }
}

/**
 * The signal, aborted in a turn of the event loop that has time: hundreds of clients may leave at
 * once, and each ends its calls.
 */
function inTurn(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  const abort = (): void => later.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', () => void executionTurns.nextTurn().then(abort), { once: true });
  return later.signal;
}

/** Functions that make the context of each request. */
export function createContextFactory(sources: ContextSources): Contexts {
  const { services, callers, telemetry } = sources;
  const { config } = services;
  const of = (asker: RequestInfo): GatewayContext => new LazyContext(sources, asker);

  const ofRequest = (request: Request, caller: Caller, signal: AbortSignal): GatewayContext =>
    of({
      caller,
      address: clientIpOf(request),
      exchange: telemetry.exchangeOf(request),
      signal,
      clientSignal: request.signal,
      origin: new URL(request.url).origin,
      isRouter: isFederationRouter(request, config.FEDERATION_TOKEN),
      record: callRecordOf(request),
      async fresh() {
        const again = await callers.reauthenticate(request);
        return () =>
          ofRequest(request, again, startDeadline(request.signal, config.REQUEST_TIMEOUT_MS).signal);
      },
    });

  const withDeadline = (request: Request, caller: Caller): GatewayContext => {
    const limit = startDeadline(inTurn(request.signal), config.REQUEST_TIMEOUT_MS);
    // Of a request that came over no connection nothing tells when the last byte has gone.
    // Of a client that has left, its turn ends the calls.
    if (clientIpOf(request) !== undefined)
      telemetry.exchangeOf(request).onEnd.push(() => request.signal.aborted || limit.end());
    return ofRequest(request, caller, limit.signal);
  };

  return {
    open: async (request) => withDeadline(request, await callers.identify(request)),
    openLink(request, path) {
      const signature = new URL(request.url).searchParams.get('signature');
      if (signature === null) return null;
      const claim = services.links.open(path, signature);
      if (typeof claim === 'string') return claim;
      const { principal } = claim;
      return { claim, ctx: withDeadline(request, { token: undefined, principal, proven: false }) };
    },
  };
}
