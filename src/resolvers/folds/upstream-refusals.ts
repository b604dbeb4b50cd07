// Converts the service's refusals of a submission or cancellation to problems of the schema.
import type { RefusedShape } from '../../schema/problem.ts';
import { subjectOf429, UpstreamError } from '../../upstream/errors.ts';

type Reason = RefusedShape['reason'];

const OF_STATUS: Readonly<Record<number, Reason>> = {
  401: 'UNAUTHENTICATED',
  402: 'CREDITS',
  403: 'FORBIDDEN',
  422: 'MODEL_UNAVAILABLE',
};

/**
 * A 429 means a rate limit or a lack of credits; only its text says which (spec, section Errors).
 */
function reasonOf(status: number, text: string): Reason {
  if (status !== 429) return OF_STATUS[status] ?? 'INVALID_REQUEST';
  const subject = subjectOf429(text);
  if (subject === undefined) return 'RATE_LIMIT_OR_CREDITS';
  return subject === 'credits' ? 'CREDITS' : 'RATE_LIMIT';
}

const HINTS: Readonly<Record<Reason, string>> = {
  RATE_LIMIT: 'Wait and send the same again.',
  CREDITS: 'Add credits to the key, or wait until they are renewed.',
  RATE_LIMIT_OR_CREDITS: 'Wait and send the same again; if it stays refused, look at the credits of the key.',
  MODEL_UNAVAILABLE: 'Ask the service whether the model is offered to this key.',
  UNAUTHENTICATED: 'Send a valid key of the service in the header `Authorization`, after the word `Bearer`.',
  FORBIDDEN: 'Ask the service for access, or disclose potentialSequenceOfConcern if you are approved for it.',
  INVALID_REQUEST: 'Mend the input as the message says.',
  UNREACHABLE: 'Send the same again in a moment.',
};

/** The hint where the input and the caller's key are not to blame. */
const OF_THE_OPERATOR = 'Nothing was done. Tell the operator of the gateway what the message says.';

/**
 * A failed call as a refusal: a 4xx answer, or a request that was never sent. Nothing was queued in
 * both cases.
 *
 * @returns null when the call may have had an effect, or did not fail at the service
 */
export function toRefusedProblem(error: unknown): RefusedShape | null {
  if (!(error instanceof UpstreamError)) return null;
  const { code, status, requestId, retryAfterSeconds, sent } = error.failure;
  const common = { kind: 'Refused', message: error.message, upstreamRequestId: requestId ?? null } as const;
  if (sent === false) {
    const wait = { retryAfterSeconds: retryAfterSeconds ?? null };
    return { ...common, hint: HINTS.UNREACHABLE, reason: 'UNREACHABLE', retryable: true, ...wait };
  }
  // 408 means that the service did not read the whole request in time; it may have queued a part.
  if (status === undefined || status < 400 || status >= 500 || status === 408) return null;
  const reason = reasonOf(status, error.message);
  return {
    ...common,
    hint: code === 'UPSTREAM_DRIFT' ? OF_THE_OPERATOR : HINTS[reason],
    reason,
    retryable:
      reason === 'RATE_LIMIT' || reason === 'RATE_LIMIT_OR_CREDITS' || retryAfterSeconds !== undefined,
    retryAfterSeconds: retryAfterSeconds ?? null,
  };
}
