// Masks the errors that callers see, and counts each error once.
import { GraphQLError } from 'graphql';
import type { Logger } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type RequestRecord, requestLogFields } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RefusalReason } from '../limits/request-limits.ts';
import { maskError, withErrorCode } from './errors.ts';
import type { ErrorOwners } from './use-telemetry.ts';

export interface ClientErrors {
  /** Which request an error came up in. */
  readonly owners: ErrorOwners;
  /** The error that the caller sees instead of this one. */
  show(error: unknown): Error;
  /** The same for an error of a later part of an answer. */
  showPart(error: GraphQLError, request: Request): Error;
  /** Counts an error that is shown as it is. */
  count(error: Error, request: Request): void;
  /** The errors of a result as its caller sees them, each counted once. */
  ofResult(errors: readonly GraphQLError[], exchange: RequestRecord): GraphQLError[];
  /** Counts a request that is refused before it runs, and logs such refusals now and then. */
  countRefusal(reason: RefusalReason, error: Error, request: Request): void;
}

/** How often refusals of one kind are logged at most. */
const LOG_REFUSALS_MS = 10_000;

const codeOf = (error: Error): string =>
  error instanceof GraphQLError ? String(error.extensions.code) : 'INTERNAL_SERVER_ERROR';

/**
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export function createClientErrors(
  log: Logger,
  metrics: Metrics,
  telemetry: Telemetry,
  suggestions: boolean,
): ClientErrors {
  const owners: ErrorOwners = new WeakMap();
  /**
   * Errors already counted for a request. Validation errors are cached, so one may be shown to
   * many.
   */
  const countedFor = new WeakMap<RequestRecord, WeakSet<Error>>();
  /** What fails before it runs is never masked, and what is masked is seen again in the answer. */
  const countOnce = (error: Error, owner: RequestRecord): void => {
    const counted = countedFor.get(owner) ?? new WeakSet<Error>();
    if (owner.left || counted.has(error)) return;
    countedFor.set(owner, counted.add(error));
    telemetry.failed(codeOf(error), owner);
  };
  const count = (error: Error, request: Request) => countOnce(error, telemetry.exchangeOf(request));
  const show = (error: unknown): Error => {
    const owner = typeof error === 'object' && error !== null ? owners.get(error) : undefined;
    const shown = maskError(
      error,
      (cause) => {
        // What breaks when a caller has left is no fault of the gateway.
        if (owner?.left !== true)
          log.error(
            { ...(owner === undefined ? {} : requestLogFields(owner)), error: cause },
            'masked error',
          );
      },
      suggestions,
    );
    // Without its request it is one of an answer in one piece, which is counted with that.
    if (owner !== undefined) countOnce(shown, owner);
    return shown;
  };
  const refusals = new Map<RefusalReason, { many: number; loggedAt: number }>();
  /**
   * Logs the first refusal of a kind at once, later ones together. Each has an access log line,
   * too.
   */
  function logRefusal(reason: RefusalReason): void {
    const known = refusals.get(reason) ?? { many: 0, loggedAt: Number.NEGATIVE_INFINITY };
    known.many += 1;
    refusals.set(reason, known);
    if (performance.now() - known.loggedAt < LOG_REFUSALS_MS) return;
    log.warn({ reason, requests: known.many }, 'requests are refused');
    known.many = 0;
    known.loggedAt = performance.now();
  }
  return {
    owners,
    count,
    show,
    showPart(error, request) {
      owners.set(error, telemetry.exchangeOf(request));
      return show(error);
    },
    ofResult: (all, exchange) =>
      all.map((error) => {
        owners.set(error, exchange);
        const masked = show(error);
        const shown = withErrorCode(
          masked instanceof GraphQLError ? masked : new GraphQLError(masked.message),
        );
        countOnce(shown, exchange);
        return shown;
      }),
    countRefusal(reason, error, request) {
      metrics.refused.inc({ reason });
      count(error, request);
      logRefusal(reason);
    },
  };
}
