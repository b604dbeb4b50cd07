// Makes the typed error of an answer that is no success, in words for the one who can mend it: the
// caller, the operator of the gateway, or the upstream.
import { redact } from '../../telemetry/redact.ts';
import {
  codeOfStatus,
  errorText,
  type FailureCode,
  isApiError,
  retryAfterSeconds,
  subjectOf429,
  UpstreamError,
} from '../errors.ts';
import { type InputFault, isCallersFault, validationIssues } from '../input-faults.ts';
import { parseTime } from '../wire-values.ts';
import { headerValue, readAnyJson } from './response-body.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

/** The code of a refusal, which is the caller's error only where it names an argument. */
function failureCode(
  operation: string,
  status: number,
  text: string | undefined,
  issues: readonly InputFault[],
): FailureCode {
  const code = codeOfStatus(status);
  // Submit and Cancel are judged by their status.
  if (operation === 'submit' || operation === 'cancel') return code;
  if (code !== 'BAD_USER_INPUT' || issues.some(isCallersFault)) return code;
  // An accession of another namespace (spec, section Errors).
  if (operation === 'uniprot' && status === 400 && text !== undefined) return code;
  return 'UPSTREAM_DRIFT';
}

const GATEWAY_KEY_REFUSED =
  "The upstream refused the gateway's own key, which its operator has to change (UPSTREAM_API_KEY):";
/** The operations of the Batch API. */
const SENT_A_KEY: ReadonlySet<string> = new Set(['submit', 'list', 'status', 'cancel']);
/** Another key would not help: the Atlas is public, and the gateway sends it none. */
const ATLAS_ASKS_FOR_KEY =
  'The upstream asks for a key for its Atlas, which is public by its contract and is sent none:';

/** A 404 of a proxy, or of a server that has no such route, says nothing of what was asked for. */
const missingRoute = (operation: string): UpstreamError =>
  new UpstreamError(
    `The upstream answered ${operation} with HTTP 404 and no error of its API, which does not say that ` +
      'there is no such thing. If it answers so always, the operator of the gateway has to mend the ' +
      `path of UPSTREAM_URL, or ${SENT_A_KEY.has(operation) ? 'UPSTREAM_BATCH_PREFIX' : 'UPSTREAM_ATLAS_PREFIX'}, ` +
      'which follows it; `foldatlas doctor` helps to find it.',
    { operation, code: 'UPSTREAM_DRIFT', status: 404, retryable: true },
  );

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/** What is said of a status where the body says nothing. */
const statusText = (operation: string, status: number): string =>
  `The upstream answered ${operation} with HTTP ${status}` +
  (isRedirect(status)
    ? ', a redirect, which the gateway does not follow. Its operator has to set UPSTREAM_URL to the ' +
      'address that the redirect leads to, such as one that begins with https.'
    : '.');

/** The service's own id of a request, from the body of its answer or from its header. */
export function requestIdOf(
  up: Pick<Upstream, 'token'>,
  { headers }: Pick<StreamedResponse, 'headers'>,
  inBody?: unknown,
): string | undefined {
  const id = typeof inBody === 'string' ? inBody : headerValue(headers['x-request-id']);
  return id === undefined ? undefined : redact(id, up.token);
}

/** The typed error of an unexpected status. Reads the body for its text. */
export async function toUpstreamError(up: Upstream, answer: StreamedResponse): Promise<UpstreamError> {
  const { operation } = answer.call;
  const body = await readAnyJson(up, answer).catch(() => undefined);
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const { request_id: id, results_expire_at: expired } = fields;
  const issues = validationIssues(operation, body).map((fault) => ({
    ...fault,
    path: redact(fault.path, up.token),
    message: redact(fault.message, up.token),
  }));
  const faults = issues
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
  const text = faults === '' ? errorText(body) : faults;
  // The service may quote what it was sent.
  const shown = text === undefined ? undefined : redact(text, up.token);
  const { status } = answer;
  const isAbsence = status === 404 && isApiError(body);
  if (status === 404 && !isAbsence) return missingRoute(operation);
  const spent = status === 402 || (status === 429 && subjectOf429(text ?? '') === 'credits');
  const plain = (isRedirect(status) ? undefined : shown) ?? statusText(operation, status);
  const isAtlas = !SENT_A_KEY.has(operation);
  const isNotTheirs = status === 401 && (isAtlas || up.isGatewayKey === true);
  const code = isNotTheirs ? 'UPSTREAM_DRIFT' : failureCode(operation, status, text, issues);
  const isOurs = code !== codeOfStatus(status);
  const ofKey = isAtlas ? ATLAS_ASKS_FOR_KEY : GATEWAY_KEY_REFUSED;
  const refusal = isNotTheirs ? ofKey : `The upstream refused how ${operation} was asked:`;
  return new UpstreamError(isOurs ? `${refusal} ${plain}` : plain, {
    operation,
    code,
    status,
    isAbsence,
    requestId: requestIdOf(up, answer, id),
    retryable: !spent && (status === 429 || status === 408 || status >= 500),
    retryAfterSeconds: retryAfterSeconds(headerValue(answer.headers['retry-after']), Date.now()),
    ...(issues.length === 0 || isOurs ? {} : { issues }),
    resultsExpireAt: parseTime(typeof expired === 'string' ? expired : undefined)?.toISOString(),
  });
}
