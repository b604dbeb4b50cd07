// Makes what each request carries: its caller, the service as this caller sees it, loaders of its own. It knows no plugin and no route.
import type { Caller, Callers } from '../callers/caller.ts';
import type { GatewayContext } from '../context.ts';
import { isRouter } from '../federation/router.ts';
import { requestIdOf } from '../operations/request-id.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { createSubmissions } from '../store/submissions.ts';
import { createBatchReader } from '../upstream/batch-reader.ts';
import { createFoldResults } from '../upstream/fold-results.ts';
import { createOwned } from '../upstream/owned.ts';
import { deadline } from '../upstream/time-limit.ts';
import type { OpenedServices } from './services.ts';
import type { OpenUpstream } from './way-out.ts';

/** Makes the context of a request. @throws GraphQLError UNAUTHENTICATED when its proof does not hold */
export type OpenContext = (request: Request) => Promise<GatewayContext>;

export interface ContextSources extends Pick<OpenedServices, 'services' | 'loaders'> {
  readonly callers: Callers;
  readonly telemetry: Telemetry;
  readonly openUpstream: OpenUpstream;
}

/** A function that makes the context of each request. */
export function contextsFrom(sources: ContextSources): OpenContext {
  const { services, loaders, callers, telemetry, openUpstream } = sources;
  const { config, ledger, downloads } = services;
  const contextOf = (request: Request, { token, principal }: Caller): GatewayContext => {
    const requestId = requestIdOf(request);
    telemetry.exchangeOf(request).principal = principal;
    const signal = deadline(request.signal, config.REQUEST_TIMEOUT_MS);
    const upstream = openUpstream(requestId, token, signal, { request, principal });
    const submissions = createSubmissions(ledger, principal, config.proofNeeded);
    const owned = createOwned(submissions);
    const batches = createBatchReader(upstream, owned);
    return {
      services,
      requestId,
      principal,
      isRouter: isRouter(request, config.FEDERATION_TOKEN),
      publicUrl: config.PUBLIC_URL ?? new URL(request.url).origin,
      upstream,
      ...loaders(upstream),
      submissions,
      owned,
      batches,
      clientSignal: request.signal,
      async fresh() {
        const caller = await callers.again(request);
        return () => contextOf(request, caller);
      },
      folds: createFoldResults(upstream, downloads, batches, submissions),
    };
  };
  return async (request) => contextOf(request, await callers.identify(request));
}
