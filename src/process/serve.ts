// Opens the gateway on its port, with WebSocket beside it.
import type { Server } from 'node:http';
import type { Config } from '../config.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { createHttpServer } from '../http/server/http-server.ts';
import { MAX_ANONYMOUS_BODY_BYTES } from '../http/server/read-body.ts';
import { timeLimits } from '../http/server/time-limits.ts';
import { attachWebSocket, type SocketServer } from '../http/websocket/server.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { awaitStore } from './await-store.ts';
import { type OpenPort, openPort } from './ports.ts';
import { stopServing } from './shutdown.ts';

export interface ServeOptions {
  readonly config: Config;
  readonly upstreamUrl: string;
  readonly sandbox: boolean;
  readonly log: Logger;
}

export interface Served {
  /** Where callers reach it. */
  readonly url: string;
  /** Where it listens. */
  readonly localUrl: string;
  readonly gateway: Gateway;
  /**
   * Finishes what is in flight, within SHUTDOWN_SECONDS, and closes everything.
   *
   * @returns whether all of it ended in time
   */
  stop(): Promise<boolean>;
}

/** Serves GraphQL over WebSocket on a server. */
export const attachSockets = (server: Server, gateway: Gateway, config: Config): SocketServer =>
  attachWebSocket(server, gateway, {
    // A proxy may have sent another Host than the one that the gateway's own pages come from.
    origins: [...config.CORS_ORIGINS, ...(config.PUBLIC_URL ? [new URL(config.PUBLIC_URL).origin] : [])],
    maxBytes: Math.min(config.MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES),
    keyForLoopback: config.keyForLoopback,
  });

/** Opens the tracer; a gateway whose tracer cannot be set up goes on without one. */
async function startTracing(config: Config, log: Logger): Promise<Tracing | undefined> {
  if (!config.tracesOn) return undefined;
  try {
    const { openTracing } = await import('../telemetry/tracing.ts');
    return openTracing((problem) => log.warn(problem));
  } catch (error) {
    log.warn({ error }, 'the tracer cannot be set up; no traces are sent');
    return undefined;
  }
}

/**
 * Opens the gateway and listens.
 *
 * @throws Error when the store does not answer or the port is in use
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { config, log, ...rest } = options;
  const tracing = await startTracing(config, log);
  const gateway = createGateway({ config, log, tracing, ...rest });
  const { silence, answer } = timeLimits(config);
  const server = createHttpServer(gateway, { socketTimeoutMs: silence, answerTimeoutMs: answer });
  const sockets = attachSockets(server, gateway, config);
  let port: OpenPort;
  try {
    await awaitStore(config, log, gateway.ready);
    port = await openPort(server, { setting: 'PORT', port: config.PORT, host: config.HOST });
  } catch (error) {
    await gateway.close();
    await tracing?.close();
    throw error;
  }
  return {
    url: config.PUBLIC_URL ?? port.url,
    localUrl: port.url,
    gateway,
    stop: () => stopServing({ gateway, sockets, port, tracing, log }, config.SHUTDOWN_SECONDS * 1000),
  };
}
