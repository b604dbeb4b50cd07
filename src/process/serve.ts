// One listening process: the gateway on its port with WebSocket beside it, and how both stop.
import { withTimeout } from '../async/deadline.ts';
import type { Config } from '../config.ts';
import { createGateway } from '../gateway.ts';
import { createHttpServer } from '../http/limits/http-server.ts';
import { MAX_ANONYMOUS_BODY_BYTES } from '../http/limits/read-body.ts';
import { attachWebSocket } from '../http/websocket/server.ts';
import type { Logger } from '../telemetry/log.ts';
import { openTracing } from '../telemetry/tracing.ts';
import { awaitStore } from './await-store.ts';
import { type OpenPort, openPort } from './ports.ts';

export interface ServeOptions {
  readonly config: Config;
  readonly upstreamUrl: string;
  readonly sandbox: boolean;
  readonly log: Logger;
}

export type Served = Awaited<ReturnType<typeof serve>>;

/** How long closing the store and the connections to the upstream may take after that. */
const CLOSE_MS = 3_000;

/**
 * Opens the gateway and listens.
 *
 * @throws Error when the store does not answer or the port is in use
 */
export async function serve(options: ServeOptions) {
  const { config, log, ...rest } = options;
  const tracing =
    config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
      ? undefined
      : await openTracing({
          endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
          serviceName: config.OTEL_SERVICE_NAME,
          onError: (error) => log.warn({ error }, 'traces were not sent'),
        });
  const gateway = createGateway({ config, log, tracing, ...rest });
  const close = async () => {
    await withTimeout(gateway.close(), CLOSE_MS, () => log.warn('the store did not close in time'));
    await tracing?.close();
  };
  const server = createHttpServer(gateway, {
    maxHeaderBytes: config.MAX_HEADER_BYTES,
    maxConnections: config.MAX_CONNECTIONS,
    slowReaderMs: config.SLOW_READER_SECONDS * 1000,
  });
  const sockets = attachWebSocket(server, gateway, {
    // A proxy may have sent another Host than the one that the gateway's own pages come from.
    origins: [...config.CORS_ORIGINS, ...(config.PUBLIC_URL ? [new URL(config.PUBLIC_URL).origin] : [])],
    maxBytes: Math.min(config.MAX_BODY_BYTES, MAX_ANONYMOUS_BODY_BYTES),
    maxPerAddress: config.MAX_SOCKETS_PER_ADDRESS,
    hops: config.TRUST_PROXY,
    onFault: (error) => log.error({ error }, 'websocket'),
    keyForLoopback: config.keyForLoopback,
  });
  let port: OpenPort;
  try {
    await awaitStore(config, log, gateway.ready);
    port = await openPort(server, config.PORT, config.HOST);
  } catch (error) {
    await close();
    throw error;
  }
  const { url } = port;
  let stopping: Promise<void> | undefined;
  return {
    /** Where callers reach it. */
    url: config.PUBLIC_URL ?? url,
    /** Where programs on this machine reach it. */
    localUrl: url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:'),
    gateway,
    /**
     * Fails /ready, takes no new connections, ends streams, waits for running requests and submissions
     * (at most SHUTDOWN_SECONDS), then closes the store and flushes traces.
     */
    stop() {
      stopping ??= (async () => {
        const until = performance.now() + config.SHUTDOWN_SECONDS * 1000;
        const left = () => Math.max(0, until - performance.now());
        gateway.drain();
        await Promise.all([sockets.close(left()), port.close(left())]);
        await withTimeout(gateway.submitted(), left(), () => log.warn('a submission did not end in time'));
        await close();
      })();
      return stopping;
    },
  };
}
