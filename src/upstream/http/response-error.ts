// Makes the typed error of an answer that is no success, worded for the one who can mend it: the
// caller, the operator of the gateway, or the upstream.
import { redact } from '../../telemetry/redact.ts';
import {
  errorText,
  isApiError,
  parse429Subject,
  parseRetryAfter,
  toFailureCode,
  UpstreamError,
} from '../errors.ts';
import { type InputFault, isCallersFault, parseInputFaults } from '../input-faults.ts';
import { isFields } from '../json/is-fields.ts';
import { parseTime } from '../wire-values.ts';
import type { Upstream, UpstreamResponse } from './call.ts';
import { headerValue } from './response-body.ts';
import { readAnyJson } from './validate-response.ts';

const BATCH_OPERATIONS: ReadonlySet<string> = new Set(['submit', 'list', 'status', 'cancel']);

/** A 404 of a proxy, or of a server that has no such route, says nothing of what was asked for. */
const missingRoute = (operation: string): UpstreamError =>
  new UpstreamError(
    `The upstream answered ${operation} with HTTP 404 and no error of its API, which does not say that ` +
      'there is no such thing. If it answers so always, the operator of the gateway has to mend the ' +
      `path of UPSTREAM_URL, or ${BATCH_OPERATIONS.has(operation) ? 'UPSTREAM_BATCH_PREFIX' : 'UPSTREAM_ATLAS_PREFIX'}, ` +
      'which follows it; `foldatlas doctor` helps to find it.',
    { operation, code: 'UPSTREAM_DRIFT', status: 404, retryable: false },
  );

/** The error of a download. Its body is not quoted: stores write the signed URL in it. */
function toDownloadError({ status, headers, operation }: UpstreamResponse): UpstreamError {
  const retryable = isTemporary(status);
  return new UpstreamError(`A download was answered with HTTP ${status}.`, {
    operation,
    // The caller cannot mend that a file is not there, or elsewhere.
    code: retryable ? toFailureCode(status) : 'UPSTREAM_DRIFT',
    status,
    retryable,
    retryAfterSeconds: parseRetryAfter(headerValue(headers['retry-after'])),
  });
}

/** The service's own id of a request, from the body of its answer or from its header. */
export function readRequestId(
  up: Pick<Upstream, 'token'>,
  { headers }: Pick<UpstreamResponse, 'headers'>,
  inBody?: unknown,
): string | undefined {
  const id = typeof inBody === 'string' ? inBody : headerValue(headers['x-request-id']);
  return id === undefined ? undefined : redact(id, up.token);
}

/** The text of the service without secrets that it quotes; without a text, its status. */
function refusalText(
  up: Upstream,
  { status, operation }: UpstreamResponse,
  said: string | undefined,
): string {
  if (status >= 300 && status < 400 && status !== 304)
    return (
      `The upstream answered ${operation} with HTTP ${status}, a redirect, which the gateway does not ` +
      'follow. Its operator has to set UPSTREAM_URL to the address that the redirect leads to, such as one ' +
      'that begins with https.'
    );
  if (said === undefined) return `The upstream answered ${operation} with HTTP ${status}.`;
  return redact(said, up.token);
}

/**
 * Whether a refusal is about the caller's input: it names an argument, or a known rule of the
 * operation.
 */
function isAboutInput(operation: string, status: number, said: string | undefined, faults: InputFault[]) {
  // Submit and Cancel are judged by their status.
  if (operation === 'submit' || operation === 'cancel' || faults.some(isCallersFault)) return true;
  // An accession of another namespace (spec, section Errors).
  return operation === 'uniprot' && status === 400 && said !== undefined;
}

/** Words before the text of the service, for one who can mend what the caller cannot. */
function findPreface(
  up: Upstream,
  { status, operation }: UpstreamResponse,
  isInput: boolean,
): string | undefined {
  // Another key would not help: the Atlas is public, and the gateway sends it none.
  if (status === 401 && !BATCH_OPERATIONS.has(operation))
    return 'The upstream asks for a key for its Atlas, which is public by its contract and is sent none: ';
  if (status === 401 && up.isGatewayKey === true)
    return "The upstream refused the gateway's own key, which its operator has to change (UPSTREAM_API_KEY): ";
  if (toFailureCode(status) === 'BAD_USER_INPUT' && !isInput)
    return `The upstream refused how ${operation} was asked: `;
  return undefined;
}

const isTemporary = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** The typed error of an answer that is no success. */
export async function toUpstreamError(up: Upstream, answer: UpstreamResponse): Promise<UpstreamError> {
  const { status, operation, headers } = answer;
  if (operation === 'download') return toDownloadError(answer);
  // A proxy may answer with a page.
  const body = await readAnyJson(answer).catch(() => undefined);
  const isAbsence = status === 404 && isApiError(body);
  if (status === 404 && !isAbsence) return missingRoute(operation);
  const fields = isFields(body) ? body : {};
  const faults = parseInputFaults(operation, body);
  const faultText = faults
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
  const said = faultText === '' ? errorText(body) : faultText;
  const preface = findPreface(up, answer, isAboutInput(operation, status, said, faults));
  const isSpent = status === 402 || (status === 429 && parse429Subject(said ?? '') === 'credits');
  const issues = faults.map((fault) => ({
    ...fault,
    path: redact(fault.path, up.token),
    message: redact(fault.message, up.token),
  }));
  const expired = fields.results_expire_at;
  return new UpstreamError((preface ?? '') + refusalText(up, answer, said), {
    operation,
    code: preface === undefined ? toFailureCode(status) : 'UPSTREAM_DRIFT',
    status,
    isAbsence,
    requestId: readRequestId(up, answer, fields.request_id),
    retryable: !isSpent && isTemporary(status),
    retryAfterSeconds: parseRetryAfter(headerValue(headers['retry-after'])),
    ...(issues.length === 0 || preface !== undefined ? undefined : { issues }),
    resultsExpireAt: parseTime(typeof expired === 'string' ? expired : undefined)?.toISOString(),
  });
}
