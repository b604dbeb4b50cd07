// The id by which a request is known in logs, in answers and upstream.
import { randomUUID } from 'node:crypto';

const ids = new WeakMap<Request, string>();

/** The id of a request: the caller's own where it sent a usable one in `x-request-id`, else a new one, the same whenever asked. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const given = request.headers.get('x-request-id') ?? '';
  const id = /^[\w.:-]{8,128}$/.test(given) ? given : randomUUID();
  ids.set(request, id);
  return id;
}
