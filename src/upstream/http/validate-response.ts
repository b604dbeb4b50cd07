// Reads the JSON of answers by their wire schemas. What differs is an UPSTREAM_DRIFT error with its
// path.
import type * as z from 'zod';
import { excerpt } from '../../plain-text.ts';
import { redact } from '../../telemetry/redact.ts';
import { UpstreamError } from '../errors.ts';
import { parseJson } from '../json/parse-json.ts';
import type { UpstreamResponse } from './call.ts';

/** That an answer is not what was promised. @param path - in the JSON, such as `$.items` */
export function drifted(operation: string, path: string, what: string, retryable = false): UpstreamError {
  // Names in a path are the service's.
  const place = excerpt(path);
  return new UpstreamError(
    redact(`The upstream's answer to ${operation} has changed at ${place}: ${what}.`),
    {
      operation,
      code: 'UPSTREAM_DRIFT',
      path: place,
      retryable,
    },
  );
}

/** A required part; undefined for null. @throws UpstreamError UPSTREAM_DRIFT when missing */
export function promised<T>(operation: string, path: string, value: T | null | undefined): T | undefined {
  if (value === undefined) throw drifted(operation, path, 'missing, or of another type');
  return value ?? undefined;
}

/** @throws UpstreamError UPSTREAM_DRIFT with operation, JSON path, expected and seen */
export function validate<S extends z.ZodType>(operation: string, schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue === undefined || issue.path.length === 0 ? '$' : `$.${issue.path.map(String).join('.')}`;
  throw drifted(operation, path, issue?.message ?? 'unreadable');
}

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

/** A record that fits its schema, and the JSON that it came as. */
export interface WithRaw<T> {
  readonly record: T;
  readonly raw: unknown;
  /** Bytes of the JSON. */
  readonly jsonBytes: number;
}

/**
 * Reads an answer.
 *
 * @param name - what drift is reported of.
 * @throws UpstreamError UPSTREAM_DRIFT
 */
export async function readJson<S extends z.ZodType>(
  answer: UpstreamResponse,
  schema: S,
  name: string = answer.operation,
): Promise<WithRaw<z.output<S>>> {
  const raw = await readAnyJson(answer);
  return { record: validate(name, schema, raw), raw, jsonBytes: answer.body.byteLength };
}
