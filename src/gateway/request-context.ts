// Creates the request context: the caller, an upstream client that acts for this caller, and
// per-request loaders.
import { startDeadline } from '../async/deadline.ts';
import type { GatewayContext } from '../context.ts';
import type { Authenticator } from '../http/access/authenticate.ts';
import { isFederationRouter } from '../http/access/shared-secrets.ts';
import type { OpenLink } from '../http/access/signed-links.ts';
import { type Caller, type Exchange, identifyCaller } from '../http/exchange.ts';
import { createSubmissions } from '../store/ledger/submissions.ts';
import { createCallRecord } from '../telemetry/upstream-calls.ts';
import { createBatchOwnership, createBatchReader } from '../upstream/folds/batch-reader.ts';
import { createFoldResults } from '../upstream/folds/fold-results.ts';
import type { Loaders } from '../upstream/reads/loaders.ts';
import type { SharedServices } from './services.ts';
import type { UpstreamConnections } from './upstream.ts';

/** Creates the contexts of requests. */
export interface Contexts {
  /**
   * Creates the context of a request.
   *
   * @throws GraphQLError UNAUTHENTICATED when its credentials are invalid, UPSTREAM_UNAVAILABLE
   *   when what the caller has stored under a former secret cannot be moved
   */
  openContext(exchange: Exchange): Promise<GatewayContext>;
  /** Creates the context of a request whose signed link names the caller. */
  readonly openLink: OpenLink;
}

interface ContextSources
  extends Pick<SharedServices, 'services' | 'loaders' | 'movePrincipal' | 'formerNames'>,
    Pick<UpstreamConnections, 'openUpstream'> {
  readonly callers: Authenticator;
}

/**
 * Request context whose parts are created on first use: most requests use one or two. A class,
 * because an object literal with getters is ten times as slow to create.
 */
class RequestContext implements GatewayContext {
  readonly services;
  readonly requestId;
  readonly principal;
  readonly upstream;
  readonly clientSignal;
  readonly #sources: ContextSources;
  readonly #exchange: Exchange;
  readonly #identity: string | null;
  #hostUrl: string | undefined;
  #loaders: Loaders | undefined;
  #submissions: GatewayContext['submissions'] | undefined;
  #owned: GatewayContext['owned'] | undefined;
  #batches: GatewayContext['batches'] | undefined;
  #folds: GatewayContext['folds'] | undefined;

  /** @param signal - aborted when the time is up, or when the client has left */
  constructor(sources: ContextSources, exchange: Exchange, caller: Caller, signal: AbortSignal) {
    const { services, openUpstream } = sources;
    const { token, principal, identity } = caller;
    const { record, address } = exchange;
    if (record.isReported) record.report ??= createCallRecord();
    record.principal = principal;
    this.#sources = sources;
    this.#exchange = exchange;
    this.#identity = identity;
    this.services = services;
    this.requestId = record.requestId;
    this.principal = principal;
    this.clientSignal = exchange.signal;
    // A caller without a token is its address.
    this.upstream = openUpstream(record.requestId, token, signal, record, principal ?? address);
  }
  async fresh(): Promise<() => GatewayContext> {
    const exchange = this.#exchange;
    const caller = await this.#sources.callers.reauthenticate(exchange);
    const { REQUEST_TIMEOUT_MS } = this.services.config;
    return () =>
      new RequestContext(
        this.#sources,
        exchange,
        caller,
        startDeadline(exchange.signal, REQUEST_TIMEOUT_MS, this.services.clock).signal,
      );
  }
  get isRouter() {
    return isFederationRouter(this.#exchange.headers, this.services.config.FEDERATION_TOKEN);
  }
  get publicUrl() {
    const { PUBLIC_URL } = this.services.config;
    if (PUBLIC_URL !== undefined) return PUBLIC_URL;
    this.#hostUrl ??= this.#exchange.origin;
    return this.#hostUrl;
  }
  get dependsOnHost() {
    return this.#hostUrl !== undefined;
  }
  get #reads(): Loaders {
    this.#loaders ??= this.#sources.loaders(this.upstream);
    return this.#loaders;
  }
  get proteins() {
    return this.#reads.proteins;
  }
  get clusters() {
    return this.#reads.clusters;
  }
  get features() {
    return this.#reads.features;
  }
  get searches() {
    return this.#reads.searches;
  }
  get uniprot() {
    return this.#reads.uniprot;
  }
  get submissions() {
    const { ledger, config } = this.services;
    this.#submissions ??= createSubmissions(
      ledger,
      this.principal,
      config.proofNeeded,
      this.#sources.formerNames(this.#identity),
    );
    return this.#submissions;
  }
  get owned() {
    this.#owned ??= createBatchOwnership(this.submissions);
    return this.#owned;
  }
  get batches() {
    this.#batches ??= createBatchReader(this.upstream, this.owned);
    return this.#batches;
  }
  get folds() {
    this.#folds ??= createFoldResults(this.upstream, this.batches, this.submissions);
    return this.#folds;
  }
}

export function createContexts(sources: ContextSources): Contexts {
  const { services } = sources;

  function open(exchange: Exchange, caller: Caller): GatewayContext {
    const limit = startDeadline(exchange.signal, services.config.REQUEST_TIMEOUT_MS, services.clock);
    services.webhooks?.resume(caller.principal, caller.identity, caller.token);
    exchange.onEnd(limit.end);
    return new RequestContext(sources, exchange, caller, limit.signal);
  }

  const openLink: OpenLink = (exchange, signature, path) => {
    if (signature === undefined) return null;
    const claim = services.links.open(path, signature);
    if (typeof claim === 'string') return claim;
    const { principal } = claim;
    return { claim, ctx: open(exchange, { token: undefined, identity: null, principal, isProven: false }) };
  };
  return {
    async openContext(exchange) {
      const caller = identifyCaller(exchange);
      await sources.movePrincipal(caller);
      return open(exchange, caller);
    },
    openLink,
  };
}
