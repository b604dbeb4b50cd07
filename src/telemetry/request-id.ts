// The id by which a request is known in logs, in answers and upstream.
import { randomUUID } from 'node:crypto';

const ids = new WeakMap<Request, string>();

/** The caller's own id where it sent a usable one in `x-request-id`, else a new one. */
export const makeRequestId = (given: string | null | undefined): string =>
  given != null && /^[\w.:-]{8,128}$/.test(given) ? given : randomUUID();

/** The id of a request, the same whenever asked. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = makeRequestId(request.headers.get('x-request-id'));
  ids.set(request, id);
  return id;
}
