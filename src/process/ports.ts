// The ports of the process: the gateway's, and /metrics on a port of its own, for a network that
// only Prometheus reaches.
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { METRICS_REFUSALS, refuseMetrics } from '../http/access/shared-secrets.ts';

/** Length of the listen backlog. The system's limit may be lower; Node's default is 511. */
const BACKLOG = 4096;
/**
 * How often unused connections are closed while others are still answered. A proxy sends its
 * request at once, so a connection without one by then has none on its way.
 */
const IDLE_MS = 500;
/**
 * For how long no connection comes before the listener is closed. Accepted ones are held meanwhile,
 * so clients that wait for their answers soon open no more; under more load, a second later, the
 * shorter time is enough.
 */
const QUIET_MS = { first: 100, later: 3 } as const;
const LATER_MS = 1_000;
/** How long the turn of the event loop may take in which the listener is closed. */
const SHORT_TURN_MS = 0.2;
/** How long a stop waits at most for such a moment, which comes late on a busy machine. */
const MAX_ACCEPT_MS = 5_000;

export interface OpenPort {
  readonly url: string;
  /**
   * Takes no more connections, closes unused ones in a moment and the others when they are
   * answered, and cuts what lasts longer than `milliseconds`.
   */
  close(milliseconds: number): Promise<void>;
}

/** Where a server listens, and the setting that says so. */
export interface PortOptions {
  readonly setting: 'PORT' | 'METRICS_PORT';
  readonly port: number;
  readonly host: string;
}

const toListenError = (error: NodeJS.ErrnoException, { setting, host, port }: PortOptions): Error =>
  new Error(
    error.code === 'EADDRINUSE'
      ? `Port ${port} is taken: stop what listens there, or set ${setting} to another one.`
      : `${setting}: cannot listen on ${host}:${port}: ${error.message}`,
  );

/**
 * Accepts the connections that wait for the event loop, of which Node accepts one in a turn. The
 * system resets those that wait when the listener is closed, so this returns when none has come for
 * a moment. Their requests are read later, which keeps the turns short and the clients waiting.
 *
 * @param last - when the last connection came
 * @returns lets the requests be read
 */
async function acceptWaiting(server: Server, last: number): Promise<() => void> {
  const accepted: Socket[] = [];
  const begun = performance.now();
  const hold = (socket: Socket) => {
    accepted.push(socket);
    last = performance.now();
    // Its first read has begun by then, and has brought nothing yet.
    process.nextTick(() => socket.pause());
  };
  server.on('connection', hold);
  for (let now = begun, turn = Number.POSITIVE_INFINITY; now - begun < MAX_ACCEPT_MS; ) {
    const quietMs = now - begun < LATER_MS ? QUIET_MS.first : QUIET_MS.later;
    if (now - last >= quietMs && turn < SHORT_TURN_MS) break;
    await nextTurn();
    turn = performance.now() - now;
    now += turn;
  }
  server.off('connection', hold);
  return () => {
    for (const socket of accepted) socket.resume();
  };
}

/** Listens. @throws Error with a sentence on why it cannot */
export async function openPort(server: Server, options: PortOptions): Promise<OpenPort> {
  const { port, host } = options;
  const sockets = new Set<Socket>();
  let lastConnection = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket) => {
    lastConnection = performance.now();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(toListenError(error, options)));
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  const { address, port: given } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${given}`,
    async close(milliseconds) {
      const resume = await acceptWaiting(server, lastConnection);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      resume();
      const idle = setInterval(async () => {
        // Requests that came while the event loop was busy are read first.
        await nextTurn();
        await nextTurn();
        server.closeIdleConnections();
        // Browsers and load balancers open connections before they need them. Node counts them as
        // busy.
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, IDLE_MS);
      const late = setTimeout(() => server.closeAllConnections(), milliseconds);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}

export interface MetricsPortOptions {
  readonly port: number;
  readonly host: string;
  readonly token: string | undefined;
  readonly read: () => Promise<string>;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';
const CLOSE_MS = 1_000;

/** Opens the port. @throws Error with a sentence on why it cannot */
export async function openMetricsPort({ port, host, token, read }: MetricsPortOptions) {
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, async (request, response) => {
    const send = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
    if (request.url?.split('?')[0] !== '/metrics')
      return send(404, PLAIN, 'There is nothing but /metrics.\n');
    const refusal = refuseMetrics({ token, isOpen: true }, request.headers, request.socket.remoteAddress);
    if (refusal !== undefined) return send(refusal, PLAIN, `${METRICS_REFUSALS[refusal]}\n`);
    try {
      return send(200, METRICS_TYPE, await read());
    } catch {
      return send(503, PLAIN, 'The metrics cannot be read at present.\n');
    }
  });
  const { url, close } = await openPort(server, { setting: 'METRICS_PORT', port, host });
  return { url, close: () => close(CLOSE_MS) };
}
