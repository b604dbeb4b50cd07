// Building a call of the Atlas API and reading its answer: what the operations of atlas.ts and
// atlas-bulk.ts share.
import type { z } from 'zod';
import { UpstreamError } from './errors.ts';
import { confirmNotFound } from './http/prefix.ts';
import { isWhole, upstreamErrorOf } from './http/response-body.ts';
import { type Call, requestStream, type StreamedResponse, type Upstream } from './http/upstream-client.ts';
import { readContractJson, readValidated } from './http/validate-response.ts';

export const get = (operation: string, path: string, more: Partial<Call> = {}): Call => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  repeatable: true,
  ...more,
});

/**
 * Encodes a value as one segment of a path.
 *
 * @throws UpstreamError for `.` and `..`, which a URL would resolve
 */
export function segment(operation: string, text: string): string {
  if (text.trim() !== '' && text !== '.' && text !== '..') return encodeURIComponent(text);
  throw new UpstreamError(`${JSON.stringify(text)} is not an identifier.`, {
    operation,
    code: 'BAD_USER_INPUT',
    retryable: false,
  });
}

/** A checked record together with the JSON it came as. */
export interface WithRaw<T> {
  readonly record: T;
  readonly raw: unknown;
  readonly requestId: string | undefined;
}

export const KiB = 1024;
export const MiB = 1024 * KiB;

export const requestIdOf = ({ headers }: StreamedResponse): string | undefined => {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id : undefined;
};

export async function record<S extends z.ZodType>(
  up: Upstream,
  answer: StreamedResponse,
  schema: S,
  name = answer.call.operation,
): Promise<WithRaw<z.output<S>>> {
  const raw = await readContractJson(up, name, answer);
  return { record: readValidated(up, name, schema, raw), raw, requestId: requestIdOf(answer) };
}

/** Makes a call. @throws UpstreamError for every answer but a success */
export async function requestWhole(up: Upstream, call: Call): Promise<StreamedResponse> {
  const answer = await requestStream(up, call);
  if (isWhole(answer.status)) return answer;
  throw await upstreamErrorOf(up, answer);
}

/** Makes a call and reads its answer. Null when it says that there is no such thing. */
export async function foundOrNull<T>(
  up: Upstream,
  call: Call,
  read: (answer: StreamedResponse) => Promise<T>,
): Promise<T | null> {
  const answer = await requestStream(up, call);
  if (isWhole(answer.status)) return read(answer);
  const error = await upstreamErrorOf(up, answer);
  if (answer.status !== 404) throw error;
  await confirmNotFound(up, 'atlas', error);
  return null;
}

export const recordOrNull = <S extends z.ZodType>(
  up: Upstream,
  call: Call,
  schema: S,
): Promise<WithRaw<z.output<S>> | null> => foundOrNull(up, call, (answer) => record(up, answer, schema));
