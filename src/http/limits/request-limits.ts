// The limits of every HTTP request, before the cache and Yoga: access control, body size, and the
// number of requests in flight, counted from when the request is whole until its response is
// closed. Yoga's plugins answer refusals, with all headers.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import type { AccessCheck, AccessControl } from '../access-control.ts';
import type { Caller } from '../auth/authenticate.ts';
import { bodyTooLarge, httpError, overloaded } from '../errors.ts';
import { isMonitoring, requestPath } from '../request-target.ts';
import { createBodyReader, MAX_ANONYMOUS_BODY_BYTES, MAX_BODY_BRACKETS } from './read-body.ts';

/** Result of the limit checks of a request that came over a connection. */
export interface LimitCheck extends AccessCheck {
  /** The body of a POST; an error when it is too large, undefined when it was not read. */
  readonly body: Buffer | GraphQLError | undefined;
  /**
   * Ends its count among the requests in flight before its response is closed: of a subscription.
   */
  readonly leave: () => void;
}

const checks = new WeakMap<IncomingMessage, LimitCheck>();

/**
 * Result of the limit checks; undefined for monitoring, and for requests made through
 * `gateway.fetch`.
 */
export const limitCheck = (incoming: IncomingMessage | undefined): LimitCheck | undefined =>
  incoming === undefined ? undefined : checks.get(incoming);

/** Bytes that the body of a caller may have. */
export const maxBodyBytes = (caller: Caller | GraphQLError, { MAX_BODY_BYTES }: Config): number =>
  caller instanceof GraphQLError || caller.principal === null
    ? Math.min(MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES)
    : MAX_BODY_BYTES;

const tooManyBrackets = (): GraphQLError =>
  httpError(400, `The body has more than ${MAX_BODY_BRACKETS} objects and lists; send less at once.`);

/**
 * The same listener behind the limits.
 *
 * @param onFault - called with an internal error; answers the request
 */
export function limitRequests(
  listener: RequestListener,
  config: Config,
  accessControl: AccessControl,
  onFault: (error: unknown, res: ServerResponse) => void,
): RequestListener {
  const readBody = createBodyReader();

  async function limit(req: IncomingMessage, res: ServerResponse & { req: IncomingMessage }): Promise<void> {
    const { method, headers } = req;
    const address = accessControl.clientAddress(req);
    const check = await accessControl.check({ method, authorization: headers.authorization, address });
    let { refusal } = check;
    let body: LimitCheck['body'];
    if (method === 'POST' && refusal === null) {
      const maxBytes = maxBodyBytes(check.caller, config);
      const read = await readBody(req, res, maxBytes);
      if (read === 'disconnected') return;
      if (read === 'no_memory') refusal = { reason: 'busy', error: overloaded() };
      else if (read === 'too_large') body = bodyTooLarge(maxBytes);
      else body = read === 'too_many_brackets' ? tooManyBrackets() : read;
    }
    if (res.closed) return;
    const leave = accessControl.loadShedder.enter();
    if (leave !== null) res.once('close', leave);
    else refusal ??= { reason: 'busy', error: overloaded() };
    checks.set(req, { ...check, refusal, body, leave: leave ?? (() => undefined) });
    listener(req, res);
  }

  return (req, res) => {
    if (isMonitoring(requestPath(req))) return listener(req, res);
    limit(req, res).catch((error: unknown) => onFault(error, res));
  };
}
