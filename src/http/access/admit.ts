// Admits requests: authenticates the client, counts the request, reads its body and finds room for
// it, in this order. A request that is refused gets an exchange as well, with the reason.
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { AccessCheck, Caller, ClientRequest, Exchange } from '../exchange.ts';
import { bodyTooLarge, overloaded } from '../failures/errors.ts';
import { type BodyFailure, MAX_ANONYMOUS_BODY_BYTES } from '../server/read-body.ts';
import { isMonitoring } from '../server/request-target.ts';
import type { AccessControl } from './access-control.ts';
import { ANONYMOUS } from './authenticate.ts';

/** Reads the body of a request. */
export type ReadBody = (maxBytes: number) => Promise<Buffer | BodyFailure>;

/** Makes the exchange of a request; null when its client disconnected meanwhile. */
export type Admit = (request: ClientRequest, read: ReadBody) => Promise<Exchange | null>;

/** The check of a request for monitoring, which is always answered. */
const UNCHECKED: AccessCheck = { caller: ANONYMOUS, rate: null, refusal: null };

const nothing = (): void => undefined;

/** The most bytes that a caller may send in a body. */
const maxBodyBytes = (caller: Caller | GraphQLError, { MAX_BODY_BYTES }: Config): number =>
  caller instanceof GraphQLError || caller.principal === null
    ? Math.min(MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES)
    : MAX_BODY_BYTES;

export function createAdmission(config: Config, telemetry: Telemetry, access: AccessControl): Admit {
  async function check(
    { method, path, headers, address }: ClientRequest,
    read: ReadBody,
  ): Promise<(AccessCheck & Pick<Exchange, 'body'>) | null> {
    if (isMonitoring(path)) return { ...UNCHECKED, body: undefined };
    const { authorization } = headers;
    const { caller, rate, refusal } = await access.check({ method, authorization, address });
    if (method !== 'POST' || refusal !== null) return { caller, rate, refusal, body: undefined };
    const maxBytes = maxBodyBytes(caller, config);
    const body = await read(maxBytes);
    if (body === 'disconnected') return null;
    if (body === 'no_memory')
      return { caller, rate, refusal: { reason: 'busy', error: overloaded() }, body: undefined };
    if (body === 'too_large') return { caller, rate, refusal, body: bodyTooLarge(maxBytes) };
    return { caller, rate, refusal, body };
  }

  return async (request, read) => {
    const checked = await check(request, read);
    if (checked === null) return null;
    const { method, url, path, origin, headers, address, remoteAddress, signal } = request;
    const { caller, rate, body } = checked;
    let { refusal } = checked;
    const release = isMonitoring(path) ? nothing : access.loadShedder.enter();
    if (release === null) refusal ??= { reason: 'busy', error: overloaded() };
    const record = telemetry.begin({ method, path, headers });
    const exchange: Exchange = {
      method,
      url,
      path,
      origin,
      headers,
      address,
      remoteAddress,
      signal,
      caller,
      rate,
      refusal,
      body,
      record,
      release: release ?? nothing,
      onEnd: (cleanUp) => record.onEnd.push(cleanUp),
      share: (run) => run(exchange),
    };
    return exchange;
  };
}
