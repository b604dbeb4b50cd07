// Connection pools to the service and to file stores. A failure to connect is a ConnectError: only
// then is it certain that the request was not sent.
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { ConnectError, NOT_PUBLIC } from '../errors.ts';
import { isPublicAddress } from './public-address.ts';

const CONNECT_TIMEOUT_MS = 8_000;
const KEEP_ALIVE_MS = 30_000;

/** Finds all addresses of a name, as `lookup` of node:dns does. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Refuses non-public addresses while connecting: no second look-up can differ. */
const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '');
      const first = addresses[0];
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        return done(Object.assign(new Error('not a public address'), { code: NOT_PUBLIC }), '');
      }
      return options.all === true ? done(null, addresses) : done(null, first.address, first.family);
    });
  };

/** Opens a pool of any size; the limiter bounds the calls. */
export function openAgent({
  pipelining = 1,
  ...options
}: buildConnector.BuildOptions & { readonly pipelining?: number } = {}): Agent {
  const connect = buildConnector({ ...options, timeout: CONNECT_TIMEOUT_MS });
  return new Agent({
    pipelining,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: (target, done) =>
      connect(target, (error, socket) =>
        socket == null ? done(new ConnectError(error), null) : done(null, socket),
      ),
  });
}

/** The outgoing connections of a process. */
export interface ServiceConnections {
  /** For reads: connections are kept for the next one. */
  readonly pool: Dispatcher;
  /**
   * For what is sent once: a new connection each time. The service may close a kept one at any
   * moment, and whether a request on it has arrived is then unknown.
   */
  readonly unshared: Dispatcher;
  /**
   * For files on hosts that the configuration does not name: it connects to public addresses only.
   */
  readonly publicOnly: Dispatcher;
  close(): Promise<void>;
}

/**
 * Opens the connections; they connect on the first call.
 *
 * @param resolve - finds addresses of files
 */
export function openServiceConnections(resolve: Resolve = lookup): ServiceConnections {
  const pool = openAgent();
  // Without pipelining undici keeps no connection.
  const unshared = openAgent({ pipelining: 0 });
  const publicOnly = openAgent({ lookup: publicLookup(resolve) });
  return {
    pool,
    unshared,
    publicOnly,
    async close() {
      await Promise.all([pool.close(), unshared.close(), publicOnly.close()]);
    },
  };
}
