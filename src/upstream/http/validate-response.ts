// Validates answers against their wire schemas, after mapping the deployment's names to those of
// the contract.
import type { z } from 'zod';
import { redact } from '../../telemetry/redact.ts';
import { UpstreamError } from '../errors.ts';
import { fromWire } from '../renames.ts';
import { readJson } from './response-body.ts';
import type { StreamedResponse, Upstream } from './upstream-client.ts';

/** That an answer is not what was promised. @param path - in the JSON, such as `$.items` */
export const drifted = (operation: string, path: string, what: string, retryable = false): UpstreamError =>
  new UpstreamError(redact(`The upstream's answer to ${operation} has changed at ${path}: ${what}.`), {
    operation,
    code: 'UPSTREAM_DRIFT',
    path,
    retryable,
  });

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

/** Puts an answer's names back to the contract's, in place. */
export const toContractNames = <T>(up: Upstream, name: string, value: T): T =>
  fromWire(up.settings.mapping, name, value);

/** Reads an answer as JSON in the contract's names. @throws UpstreamError UPSTREAM_DRIFT for no JSON */
export const readContractJson = async (
  up: Upstream,
  name: string,
  answer: StreamedResponse,
): Promise<unknown> => toContractNames(up, name, await readJson(up, answer));
