// Makes what each request carries: its caller, the service as this caller sees it, loaders of its own. It knows no plugin and no route.
import type { Caller, Callers } from '../callers/caller.ts';
import type { GatewayContext } from '../context.ts';
import { isRouter } from '../federation/router.ts';
import type { Exchange } from '../operations/exchange.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { callRecordOf } from '../plugins/use-upstream-report.ts';
import { createSubmissions } from '../store/submissions.ts';
import { createBatchReader } from '../upstream/batch-reader.ts';
import type { CallRecord } from '../upstream/call-record.ts';
import { createFoldResults } from '../upstream/fold-results.ts';
import { createOwned } from '../upstream/owned.ts';
import { deadline } from '../upstream/time-limit.ts';
import type { OpenedServices } from './services.ts';
import type { OpenUpstream } from './way-out.ts';

/** Who asks, and how long there is time for it. */
export interface Asker {
  readonly caller: Caller;
  readonly exchange: Exchange;
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
  /** Makes the context of a request. @throws GraphQLError UNAUTHENTICATED when its proof does not hold */
  open(request: Request): Promise<GatewayContext>;
  /** Makes the context of whoever asks. */
  of(asker: Asker): GatewayContext;
}

/** Makes the context of a request. */
export type OpenContext = Contexts['open'];

export interface ContextSources extends Pick<OpenedServices, 'services' | 'loaders'> {
  readonly callers: Callers;
  readonly telemetry: Telemetry;
  readonly openUpstream: OpenUpstream;
}

/** Makes a value when it is asked for first. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Functions that make the context of each request. */
export function contextsFrom(sources: ContextSources): Contexts {
  const { services, loaders, callers, telemetry, openUpstream } = sources;
  const { config, ledger, downloads } = services;

  function of(asker: Asker): GatewayContext {
    const { exchange, signal, record } = asker;
    const { token, principal } = asker.caller;
    const { requestId } = exchange;
    exchange.principal = principal;
    const upstream = openUpstream(requestId, token, signal, { record, exchange, principal });
    // Most requests use one or two of these.
    const own = loaders(upstream);
    const submissions = once(() => createSubmissions(ledger, principal, config.proofNeeded));
    const owned = once(() => createOwned(submissions()));
    const batches = once(() => createBatchReader(upstream, owned()));
    const folds = once(() => createFoldResults(upstream, downloads, batches(), submissions()));
    return {
      services,
      requestId,
      principal,
      isRouter: asker.isRouter,
      publicUrl: config.PUBLIC_URL ?? asker.origin,
      upstream,
      clientSignal: asker.clientSignal,
      fresh: asker.fresh,
      get proteins() {
        return own.proteins;
      },
      get clusters() {
        return own.clusters;
      },
      get features() {
        return own.features;
      },
      get searches() {
        return own.searches;
      },
      get uniprot() {
        return own.uniprot;
      },
      get submissions() {
        return submissions();
      },
      get owned() {
        return owned();
      },
      get batches() {
        return batches();
      },
      get folds() {
        return folds();
      },
    };
  }

  const ofRequest = (request: Request, caller: Caller): GatewayContext =>
    of({
      caller,
      exchange: telemetry.exchangeOf(request),
      signal: deadline(request.signal, config.REQUEST_TIMEOUT_MS),
      clientSignal: request.signal,
      origin: new URL(request.url).origin,
      isRouter: isRouter(request, config.FEDERATION_TOKEN),
      record: callRecordOf(request),
      async fresh() {
        const again = await callers.again(request);
        return () => ofRequest(request, again);
      },
    });

  return { of, open: async (request) => ofRequest(request, await callers.identify(request)) };
}
