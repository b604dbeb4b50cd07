// The package as other Node programs import it: a gateway without a port of its own. The types of
// this file are published, so it exports nothing else.
import type { RequestListener, Server } from 'node:http';
import type { GatewayLimits } from './config/limits.ts';
import { ConfigError, readConfig } from './config.ts';
import { createGateway as openGateway } from './gateway.ts';
import type { SocketServer } from './http/websocket/server.ts';
import { attachSockets } from './process/serve.ts';
import { stopServing } from './process/shutdown.ts';
import { createLogger } from './telemetry/log.ts';

export interface EmbeddedGatewayOptions {
  /**
   * Settings by their names in docs/operators.md, such as `{ UPSTREAM_URL:
   * 'https://api.example.org' }`. UPSTREAM_URL is needed. The environment of the process is not
   * read: pass it where you want that.
   */
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** Limits that no setting changes. */
  readonly limits?: Partial<GatewayLimits>;
}

/** A gateway without a port. */
export interface EmbeddedGateway {
  /** Answers a request for any of the gateway's addresses, such as /graphql or /health. */
  fetch(request: Request): Promise<Response>;
  /** Answers the requests of a server of node:http, with the limits of connections and bodies. */
  readonly listener: RequestListener;
  /** Serves GraphQL over WebSocket on a server whose requests `listener` answers. */
  attachWebSocket(server: Server): void;
  /** Waits for submissions and sockets, within SHUTDOWN_SECONDS, then closes the store. */
  close(): Promise<void>;
}

/**
 * Opens a gateway.
 *
 * @throws Error with the name `ConfigError` and the list `problems` when settings are wrong
 * @throws Error when the store cannot be used
 */
export async function createGateway({ settings, limits }: EmbeddedGatewayOptions): Promise<EmbeddedGateway> {
  const config = readConfig(settings);
  const upstreamUrl = config.UPSTREAM_URL;
  if (upstreamUrl === undefined) throw new ConfigError(['UPSTREAM_URL: set the address of the service']);
  const log = createLogger(config.LOG_LEVEL, config.isProduction);
  for (const warning of config.warnings) log.warn(warning);
  const gateway = openGateway({ config, upstreamUrl, log, ...(limits === undefined ? {} : { limits }) });
  await gateway.ready().catch(async (error: unknown) => {
    await gateway.close();
    throw error;
  });
  const attached: SocketServer[] = [];
  return {
    fetch: gateway.fetch,
    listener: gateway.listener,
    attachWebSocket: (server) => void attached.push(attachSockets(server, gateway, config)),
    async close() {
      const sockets = {
        close: async (milliseconds: number) => {
          await Promise.all(attached.map((one) => one.close(milliseconds)));
        },
      };
      const port = { close: async () => undefined };
      await stopServing({ gateway, sockets, port, tracing: undefined, log }, config.SHUTDOWN_SECONDS * 1000);
    },
  };
}
