// The body of an answer that was read whole: its limits, and its JSON.
import { UpstreamError } from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import type { UpstreamResponse } from './upstream-client.ts';

/** The first value of a header. */
export const headerValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Whether a status says that the body is the whole answer. */
export const isWhole = (status: number): boolean => status >= 200 && status < 300 && status !== 206;

/** Bytes of an answer that says why there is none. */
export const MAX_REFUSAL_BYTES = 256 * 1024;

/** A body that is larger than any honest answer. */
export const tooLarge = (operation: string, status: number): UpstreamError =>
  new UpstreamError(`The upstream's answer to ${operation} is too large.`, {
    operation,
    code: 'UPSTREAM_DRIFT',
    status,
    retryable: false,
  });

/** Parses JSON of the service. @throws UpstreamError UPSTREAM_DRIFT when it is not JSON */
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

/** The JSON of an answer; undefined for an empty one. @throws UpstreamError UPSTREAM_DRIFT */
export const readAnyJson = async ({ operation, body, status }: UpstreamResponse): Promise<unknown> =>
  body.byteLength === 0 ? undefined : parseJsonBody(operation, body, status);
