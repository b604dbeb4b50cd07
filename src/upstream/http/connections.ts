// Connection pools to the service and to file stores. A failure to connect is a ConnectError: only
// then is it certain that the request was not sent.
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { ConnectError } from '../errors.ts';

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
