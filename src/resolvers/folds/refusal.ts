// Refusals of a submission or a cancellation by the service, as problems of the schema.
import { notSent, type RefusedShape } from '../../schema/problem.ts';
import { parse429Subject, UpstreamError } from '../../upstream/errors.ts';

type Reason = RefusedShape['reason'];

const REASONS: Readonly<Record<number, Reason>> = {
  401: 'UNAUTHENTICATED',
  402: 'CREDITS',
  403: 'FORBIDDEN',
  422: 'MODEL_UNAVAILABLE',
};

/** Only its text says whether a 429 is about rates or credits (spec, section Errors). */
function toReason(status: number, text: string): Reason {
  if (status !== 429) return REASONS[status] ?? 'INVALID_REQUEST';
  const subject = parse429Subject(text);
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

const TOO_LARGE_HINT =
  'The body was too large. Submit fewer items at once, each part with its own idempotencyKey.';

/** The hint where the input and the caller's key are not to blame. */
const OPERATOR_HINT = 'Nothing was done. Tell the operator of the gateway what the message says.';

/** Redirects that ask for the same request elsewhere: it was not carried out here. */
const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([301, 307, 308]);

/**
 * Refusals after which a part may be queued: the service did not read the whole request in time
 * (408), wants it again (425), or a proxy of its side had passed it on and gave up (499).
 */
const MAY_HAVE_EFFECT: ReadonlySet<number> = new Set([408, 425, 499]);

/**
 * A failed call as a refusal: a 4xx answer, a redirect of the request, or a request that was never
 * sent. Nothing was queued in all three cases.
 *
 * @returns null when the call may have had an effect, or did not fail at the service
 */
export function toRefusedProblem(error: unknown): RefusedShape | null {
  if (!(error instanceof UpstreamError)) return null;
  const { message } = error;
  const { code, status, requestId, retryAfterSeconds, sent } = error.failure;
  const reported = { upstreamRequestId: requestId ?? null, retryAfterSeconds: retryAfterSeconds ?? null };
  if (sent === false) return { ...notSent(message, HINTS.UNREACHABLE), ...reported };
  if (status === undefined || MAY_HAVE_EFFECT.has(status)) return null;
  if (!NOT_CARRIED_OUT.has(status) && (status < 400 || status >= 500)) return null;
  const reason = toReason(status, message);
  return {
    kind: 'Refused',
    message,
    hint: code === 'UPSTREAM_DRIFT' ? OPERATOR_HINT : status === 413 ? TOO_LARGE_HINT : HINTS[reason],
    reason,
    retryable:
      reason === 'RATE_LIMIT' || reason === 'RATE_LIMIT_OR_CREDITS' || retryAfterSeconds !== undefined,
    ...reported,
  };
}
