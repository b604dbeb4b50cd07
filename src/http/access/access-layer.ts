// The layer that lets no request further which is refused, and answers OPTIONS.
import type { Config } from '../../config.ts';
import type { Layer } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import type { Failures } from '../failures/failures.ts';
import { type Method, optionsHeaders } from '../server/response-headers.ts';
import { loopbackRefusal } from './loopback.ts';

/** @param findMethods - the methods that a path takes; none where nothing is there */
export const createAccessLayer =
  (
    { CORS_ORIGINS: origins, keyForLoopback }: Config,
    failures: Failures,
    findMethods: (path: string) => readonly Method[],
  ): Layer =>
  async (exchange, next) => {
    const { method, path, headers, address, refusal } = exchange;
    // A program that calls `gateway.fetch` is of this machine.
    const notLocal = keyForLoopback && address !== undefined ? loopbackRefusal(headers) : null;
    if (notLocal !== null) throw httpError(403, notLocal, { code: 'FORBIDDEN' });
    const methods = method === 'OPTIONS' ? findMethods(path) : [];
    if (methods.length > 0)
      return { status: 204, headers: optionsHeaders(headers, origins, methods), body: null };
    if (refusal === null) return next(exchange);
    const { reason, error } = refusal;
    throw reason === 'credentials' ? error : failures.refuse(reason, error, exchange);
  };
