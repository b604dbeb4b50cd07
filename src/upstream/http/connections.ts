// Connection pools to the service and to file stores. A failure to connect is a ConnectError: only
// then is it certain that the request was not sent.
import { Agent, buildConnector } from 'undici';
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
