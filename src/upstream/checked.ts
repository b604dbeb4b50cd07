// Whether an answer is what its operation promises. It knows schemas as such and no operation.
import type { z } from 'zod';
import { UpstreamError } from './errors.ts';

/** Checks an answer against its wire schema. @throws {@link UpstreamError} UPSTREAM_DRIFT that names operation, JSON path, expected and seen */
export function checked<S extends z.ZodType>(operation: string, schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue === undefined || issue.path.length === 0 ? '$' : `$.${issue.path.map(String).join('.')}`;
  throw new UpstreamError(
    `The upstream's answer to ${operation} has changed at ${path}: ${issue?.message ?? 'unreadable'}.`,
    { operation, code: 'UPSTREAM_DRIFT', retryable: false },
  );
}
