// Reads the body of an answer: as bytes within the operation's limit, into shared memory, as JSON,
// or as the error of a refusal.
import { finished, type Readable } from 'node:stream';
import { redact } from '../../telemetry/redact.ts';
import {
  codeOfStatus,
  errorText,
  type FailureCode,
  formOf,
  type InputFault,
  isCallersFault,
  networkFailure,
  retryAfterSeconds,
  subjectOf429,
  UpstreamError,
  validationIssues,
} from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseTime } from '../wire-values.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

/** Room that is made on a mere promise of so many bytes. */
const MAX_INITIAL_BYTES = 64 * 1024 ** 2;
const UNPROMISED = 64 * 1024;

const block = (size: number): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(size));

/** @param promised - how many there will be, as the sender says; 0 or less when it does not */
export function collectIntoSharedBuffer(promised: number) {
  let buffer = block(promised > 0 ? Math.min(promised, MAX_INITIAL_BYTES) : UNPROMISED);
  let size = 0;
  return {
    add(piece: Uint8Array) {
      const needed = size + piece.byteLength;
      if (needed > buffer.byteLength) {
        const larger = block(Math.max(needed, 2 * buffer.byteLength));
        larger.set(buffer.subarray(0, size));
        buffer = larger;
      }
      buffer.set(piece, size);
      size = needed;
    },
    bytes: () => buffer.subarray(0, size),
  };
}

const isShared = (bytes: Uint8Array): bytes is Uint8Array<SharedArrayBuffer> =>
  bytes.buffer instanceof SharedArrayBuffer;

/** Bytes as all threads see them: these, where they are shared already, else a copy. */
export function toSharedBuffer(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  if (isShared(bytes)) return bytes;
  const copy = block(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

const NO_BYTES = new Uint8Array();

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Reads chunks by events: iteration makes a promise for each, a third of a small answer's cost. */
const eachPiece = (body: Readable, take: (piece: Uint8Array) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    body.on('data', (piece: Uint8Array) => {
      try {
        take(piece);
      } catch (error) {
        reject(error);
        body.destroy();
      }
    });
    finished(body, (error) => (error == null ? resolve() : reject(error)));
  });

/** A body that is larger than any honest answer. */
export const tooLarge = (operation: string, status: number): UpstreamError =>
  new UpstreamError(`The upstream's answer to ${operation} is too large.`, {
    operation,
    code: 'UPSTREAM_DRIFT',
    status,
    retryable: false,
  });

/** Whether a status says that the body is the whole answer. */
export const isWhole = (status: number): boolean => status >= 200 && status < 300 && status !== 206;

/** Lets go of a body that is not wanted, and of its connection where there is more of it. */
export function discard({ body }: Pick<StreamedResponse, 'body'>): void {
  body.on('error', () => undefined).destroy();
}

/** Reads a body that comes in pieces. @returns how many bytes */
async function readPieces(
  up: Upstream,
  { body, status, call: { operation, maxBytes } }: StreamedResponse,
  take: (piece: Uint8Array) => void,
): Promise<number> {
  let size = 0;
  try {
    await eachPiece(body, (piece) => {
      size += piece.byteLength;
      if (size > maxBytes) throw tooLarge(operation, status);
      take(piece);
    });
  } catch (error) {
    throw networkFailure(operation, error, up.signal);
  }
  return size;
}

/** Reads a whole body into shared memory. @throws {@link UpstreamError} as {@link readBytes} */
export async function readShared(
  up: Upstream,
  answer: StreamedResponse,
): Promise<Uint8Array<SharedArrayBuffer>> {
  const promised = Number(single(answer.headers['content-length']) ?? 0);
  const shared = collectIntoSharedBuffer(Number.isSafeInteger(promised) ? promised : 0);
  const size = await readPieces(up, answer, shared.add);
  up.onBytes?.(answer.call.operation, size);
  return shared.bytes();
}

/**
 * Reads a whole body.
 *
 * @throws {@link UpstreamError} when it breaks off, is late or exceeds the limit
 */
export async function readBytes(up: Upstream, answer: StreamedResponse): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const size = await readPieces(up, answer, (piece) => pieces.push(piece));
  up.onBytes?.(answer.call.operation, size);
  const [first = NO_BYTES] = pieces;
  return pieces.length <= 1 ? first : Buffer.concat(pieces);
}

/** Parses a whole body. @throws {@link UpstreamError} UPSTREAM_DRIFT when it is no JSON */
export async function parseJsonBody(operation: string, bytes: Uint8Array, status = 200): Promise<unknown> {
  try {
    return await parseJson(bytes);
  } catch (error) {
    throw new UpstreamError(
      `The upstream's answer to ${operation} is not JSON.`,
      { operation, code: 'UPSTREAM_DRIFT', status, retryable: true },
      { cause: error },
    );
  }
}

/** The bytes in UTF-8, which JSON is in unless the answer says otherwise. */
function inUtf8(bytes: Uint8Array, contentType: string | undefined): Uint8Array {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1];
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return bytes;
  try {
    return new TextEncoder().encode(new TextDecoder(charset).decode(bytes));
  } catch {
    // An unknown character set: UTF-8 is the better guess.
    return bytes;
  }
}

/** Reads a whole body as UTF-8, converting its character set. @throws UpstreamError as readBytes */
export async function readUtf8(up: Upstream, answer: StreamedResponse): Promise<Uint8Array> {
  return inUtf8(await readBytes(up, answer), single(answer.headers['content-type']));
}

/** Undefined for an empty body. @throws UpstreamError UPSTREAM_DRIFT for invalid JSON */
export const bodyJson = async ({ call, status }: StreamedResponse, bytes: Uint8Array): Promise<unknown> =>
  bytes.byteLength === 0 ? undefined : parseJsonBody(call.operation, bytes, status);

/** Undefined for an empty body. @throws UpstreamError UPSTREAM_DRIFT for invalid JSON */
export async function readJson(up: Upstream, answer: StreamedResponse): Promise<unknown> {
  return bodyJson(answer, await readUtf8(up, answer));
}

/** The code of a refusal, which is the caller's error only where it names an argument. */
function blameOf(
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
  const id = typeof inBody === 'string' ? inBody : single(headers['x-request-id']);
  return id === undefined ? undefined : redact(id, up.token);
}

/** The typed error of an unexpected status. Reads the body for its text. */
export async function upstreamErrorOf(up: Upstream, answer: StreamedResponse): Promise<UpstreamError> {
  const { operation } = answer.call;
  const body = await readJson(up, answer).catch(() => undefined);
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
  const isAbsence = status === 404 && formOf(body) === 'own';
  if (status === 404 && !isAbsence) return missingRoute(operation);
  const spent = status === 402 || (status === 429 && subjectOf429(text ?? '') === 'credits');
  const plain = (isRedirect(status) ? undefined : shown) ?? statusText(operation, status);
  const isAtlas = !SENT_A_KEY.has(operation);
  const isNotTheirs = status === 401 && (isAtlas || up.isGatewayKey === true);
  const code = isNotTheirs ? 'UPSTREAM_DRIFT' : blameOf(operation, status, text, issues);
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
    retryAfterSeconds: retryAfterSeconds(single(answer.headers['retry-after']), Date.now()),
    ...(issues.length === 0 || isOurs ? {} : { issues }),
    resultsExpireAt: parseTime(typeof expired === 'string' ? expired : undefined)?.toISOString(),
  });
}
