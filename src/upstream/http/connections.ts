// Connection pools to the service and to file stores. A failure to connect is a ConnectError: only
// then is it certain that the request was not sent.
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { USER_AGENT } from '../../package.ts';
import { ConnectError } from '../errors.ts';
import type { StreamedResponse } from './upstream-client.ts';

const CONNECT_TIMEOUT_MS = 8_000;
const KEEP_ALIVE_MS = 30_000;

function createConnector(options: Partial<buildConnector.BuildOptions>): buildConnector.connector {
  const connect = buildConnector({ ...options, timeout: CONNECT_TIMEOUT_MS });
  return (target, done) =>
    connect(target, (error, socket) =>
      socket == null ? done(new ConnectError(error), null) : done(null, socket),
    );
}

/** Opens a connection pool of any size; the limiter bounds the calls. Close it at the end. */
export const openAgent = (options: Partial<buildConnector.BuildOptions> = {}): Agent =>
  new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, connect: createConnector(options) });

/** The connections to the service. */
export interface ServiceConnections {
  /** For reads: connections are kept for the next one. */
  readonly pool: Dispatcher;
  /**
   * For what is sent once: a new connection each time. The service may close a kept one at any
   * moment, and whether a request on it has arrived is then unknown.
   */
  readonly unshared: Dispatcher;
  close(): Promise<void>;
}

/** Opens the connections to the service; they connect on the first call. */
export function openServiceConnections(): ServiceConnections {
  const pool = openAgent();
  // Without pipelining undici keeps no connection.
  const unshared = new Agent({ pipelining: 0, connect: createConnector({}) });
  return {
    pool,
    unshared,
    async close() {
      await Promise.all([pool.close(), unshared.close()]);
    },
  };
}

/** Statuses of a proxy without a backend. */
const NO_BACKEND = new Set([502, 503, 504]);

/**
 * Requests the bare address; any answer shows that the service is there.
 *
 * @param milliseconds - time limit
 * @returns status and headers of the answer
 * @throws Error that says why it cannot be reached, without an address
 */
export async function ping(
  { pool }: ServiceConnections,
  baseUrl: string,
  milliseconds: number,
): Promise<Pick<StreamedResponse, 'status' | 'headers'>> {
  const signal = AbortSignal.timeout(milliseconds);
  let answer: Dispatcher.ResponseData;
  try {
    const headers = { 'user-agent': USER_AGENT };
    answer = await request(baseUrl, { dispatcher: pool, method: 'HEAD', headers, signal });
    await answer.body.dump();
  } catch (error) {
    if (signal.aborted) throw new Error(`did not answer within ${milliseconds} ms`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`cannot be reached (${code})`);
  }
  const { statusCode: status, headers } = answer;
  if (NO_BACKEND.has(status)) throw new Error(`answers HTTP ${status}`);
  return { status, headers };
}
