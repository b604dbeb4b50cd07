// How the process stops: on a signal or a fault, in one order, within a deadline.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { withTimeout } from '../async/deadline.ts';
import type { Gateway } from '../gateway.ts';
import type { SocketServer } from '../http/websocket/server.ts';
import type { Logger } from '../telemetry/log.ts';

/** How often connections that have become idle are closed while others are still answered. */
const IDLE_MS = 200;
/** How long closing the store and the connections to the upstream may take. */
const CLOSE_MS = 3_000;
/** What all of it may take beyond the time for requests in flight. */
const DEADLINE_MS = 5_000;
/** Ctrl-C reaches the process twice where npm started it: from the terminal, and passed on by npm. */
const ONE_SIGNAL_MS = 500;

/**
 * Takes no more connections, closes those without a request, and the others when they are answered.
 *
 * @param sockets - the open connections
 * @param milliseconds - after which connections are cut
 */
export async function closeServer(
  server: Server,
  sockets: ReadonlySet<Socket>,
  milliseconds: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Browsers and load balancers open connections before they need them. Node counts them as busy.
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS);
  const late = setTimeout(() => server.closeAllConnections(), milliseconds);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

export interface Serving {
  readonly gateway: Pick<Gateway, 'drain' | 'submitted' | 'close'>;
  readonly sockets: SocketServer;
  readonly port: { close(milliseconds: number): Promise<void> };
  readonly tracing: { close(): Promise<void> } | undefined;
  readonly log: Logger;
}

/**
 * Fails /ready, takes no new connections, ends streams, waits for requests and submissions in flight,
 * then closes the store and flushes traces.
 *
 * @param graceMs - for requests and submissions in flight
 */
export async function stopServing(
  { gateway, sockets, port, tracing, log }: Serving,
  graceMs: number,
): Promise<void> {
  const until = performance.now() + graceMs;
  const left = () => Math.max(0, until - performance.now());
  gateway.drain();
  await Promise.all([sockets.close(left()), port.close(left())]);
  await withTimeout(gateway.submitted(), left(), () => log.warn('a submission did not end in time'));
  await withTimeout(gateway.close(), CLOSE_MS, () => log.warn('the store did not close in time'));
  await tracing?.close();
}

/**
 * Stops the process, once, on SIGTERM, SIGINT or an uncaught fault. A second signal ends it at once.
 *
 * @param stop - its end is awaited for `graceMs` and 5 s more; after that the exit code is 1
 */
export function installShutdownHandler(log: Logger, graceMs: number, stop: () => Promise<void>): void {
  let isStopping = false;
  let signalledAt = Number.NEGATIVE_INFINITY;

  function end(code: 0 | 1): void {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => {
      log.error({ milliseconds: graceMs + DEADLINE_MS }, 'stopping took too long; the process ends now');
      process.exit(1);
    }, graceMs + DEADLINE_MS);
    stop().then(
      () => process.exit(code),
      (error: unknown) => {
        log.error({ error }, 'stopping failed');
        process.exit(1);
      },
    );
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (performance.now() - signalledAt < ONE_SIGNAL_MS) return;
      signalledAt = performance.now();
      if (isStopping) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'stopping');
      end(0);
    });
  // What threw it may have left anything half done: nothing may go on from there.
  const onFault = (what: string) => (error: unknown) => {
    log.error({ error }, what);
    end(1);
  };
  process.on('uncaughtException', onFault('uncaught exception'));
  process.on('unhandledRejection', onFault('unhandled rejection'));
}
