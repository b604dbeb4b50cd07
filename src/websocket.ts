// GraphQL over WebSocket (graphql-transport-ws) on the same path, with the same context, plugins and limits as over HTTP: the
// token comes in connectionParams and is read as if it were a header. It knows no subscription by name.
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import type { Context } from 'graphql-ws';
import { type Extra, useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { clientAddress } from './callers/address.ts';
import { overloaded } from './callers/refusal.ts';
import type { Gateway } from './gateway.ts';
import { openPlaces } from './load/streams.ts';
import type { Exchange } from './operations/exchange.ts';
import { withoutHttp } from './plugins/refused.ts';
import { coded } from './plugins/use-error-codes.ts';
import { publicError } from './protocol/answer.ts';
import { readMembers } from './protocol/read-params.ts';

const PATH = '/graphql';
/** Operations that one socket may have open at the same time. */
const MOST_OPERATIONS = 1000;
/** How long clients may take to say goodbye when the server stops. */
const GOODBYE_MS = 2_000;

export interface WebSocketOptions {
  /** Origins other than the server's own whose pages may connect. Clients that are no browser send none. */
  readonly origins: readonly string[];
  /** Bytes of one message at most. */
  readonly maxBytes: number;
  /** Whether a host name is the gateway's own; any is when absent. */
  readonly isOwnHost?: ((host: string | undefined) => boolean) | undefined;
  /** Sockets that one address may have open; any number when absent or 0. */
  readonly maxPerAddress?: number;
  /** Proxies in front that are believed about addresses; 0 when absent. */
  readonly hops?: number;
  /** Times in milliseconds, for tests. */
  readonly patience?: Partial<Patience>;
}

/** How long a socket may keep a client's silence. */
interface Patience {
  /** Until connection_init. */
  readonly init: number;
  /** Between two pings; who has not answered one by the next is gone, or does not read. */
  readonly ping: number;
  /** Without an operation. */
  readonly idle: number;
  /** Without an operation, of who cannot prove who it is. */
  readonly unknown: number;
}

const PATIENCE: Patience = { init: 5_000, ping: 12_000, idle: 300_000, unknown: 10_000 };
/** The code of a close that nobody is to blame for. */
const IDLE = 1000;
/** Bytes that may wait for a client that reads slowly. */
const MOST_BUFFERED = 64 * 1024 * 1024;

/** Open sockets. */
export interface Sockets {
  /** Says goodbye (1001) to every client and takes no new ones. Complete the streams before. */
  close(): Promise<void>;
}

type SocketContext = Context<Record<string, unknown>, Extra>;
type Engine = Pick<ReturnType<Gateway['getEnveloped']>, 'execute' | 'subscribe'> & {
  readonly incoming: IncomingMessage;
};

// A page of another site must not use a socket to a gateway that holds the key itself: browsers let it connect anywhere.
function isWelcome({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes(origin) || origins.includes('*')) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** The socket as the request that opened it, with the token of its connectionParams as a header. */
function requestOf({ connectionParams, extra }: SocketContext, signal: AbortSignal): Request {
  const { host = 'localhost', ...given } = extra.request.headers;
  const headers = new Headers();
  for (const name of ['x-request-id', 'traceparent']) {
    const value = given[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  for (const [name, value] of Object.entries(connectionParams ?? {})) {
    if (typeof value !== 'string') continue;
    if (name.toLowerCase() === 'authorization') headers.set('authorization', value);
    if (name === 'token') headers.set('authorization', `Bearer ${value}`);
  }
  // A socket carries what a POST does: its page is checked when it connects.
  return new Request(`http://${host}${PATH}`, { method: 'POST', headers, signal });
}

/** Serves GraphQL over WebSocket on a node server. */
export function attachWebSocket(server: Server, gateway: Gateway, options: WebSocketOptions): Sockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: options.maxBytes });
  const engines = new WeakMap<ExecutionArgs, Engine>();
  const gone = new WeakMap<Extra['socket'], AbortController>();

  /** Operations that a socket has open, as they are told of when they end. */
  const open = new WeakMap<Extra['socket'], Map<string, Exchange>>();
  const begin = (socket: Extra['socket'], id: string, request: Request): void => {
    const exchange = gateway.telemetry.begin(request, 'WS');
    open.get(socket)?.set(id, exchange);
  };
  const end = (socket: Extra['socket'], id: string, left = false): void => {
    const exchange = open.get(socket)?.get(id);
    if (exchange === undefined) return;
    open.get(socket)?.delete(id);
    gateway.telemetry.end(exchange, { status: 200, bytes: undefined, left });
  };
  const refuseOperation = (socket: Extra['socket'], id: string, errors: readonly GraphQLError[]) => {
    end(socket, id);
    return errors;
  };

  const engineOf = (args: ExecutionArgs): Engine => {
    const engine = engines.get(args);
    if (engine === undefined) throw new Error('An operation came past onSubscribe.');
    return engine;
  };

  const places = openPlaces(options.maxPerAddress ?? 0);
  const patience = { ...PATIENCE, ...options.patience };

  /** Closes a socket that has had no operation for too long. */
  const watchIdle = (ctx: SocketContext, known: boolean): void => {
    const { socket } = ctx.extra;
    const most = known ? patience.idle : patience.unknown;
    let busyAt = Date.now();
    const looking = setInterval(() => {
      if (Object.keys(ctx.subscriptions).length > 0) busyAt = Date.now();
      if (socket.bufferedAmount > MOST_BUFFERED) socket.terminate();
      else if (Date.now() - busyAt >= most) socket.close(IDLE, 'Idle');
    }, Math.min(most, 5_000) / 2);
    socket.once('close', () => clearInterval(looking));
  };

  /** Executes a query or mutation, which counts like a request. */
  const executeCounted = async (args: ExecutionArgs) => {
    const { incoming, execute } = engineOf(args);
    const leave = gateway.enter(incoming);
    if (leave === null) {
      gateway.metrics.refused.inc({ reason: 'busy' });
      return { errors: [withoutHttp(overloaded())] };
    }
    try {
      return await execute(args);
    } finally {
      leave();
    }
  };

  const subscribeTold = async (args: ExecutionArgs) => {
    const result = await engineOf(args).subscribe(args);
    return 'errors' in result && Array.isArray(result.errors)
      ? {
          ...result,
          errors: result.errors.map((error: unknown) =>
            error instanceof GraphQLError ? withoutHttp(error) : error,
          ),
        }
      : result;
  };

  const graphql = useServer<Record<string, unknown>>(
    {
      connectionInitWaitTimeout: patience.init,
      execute: executeCounted,
      subscribe: subscribeTold,
      async onConnect(ctx) {
        const { extra } = ctx;
        const controller = new AbortController();
        setMaxListeners(0, controller.signal);
        gone.set(extra.socket, controller);
        open.set(extra.socket, new Map());
        extra.socket.once('close', () => {
          controller.abort();
          for (const id of [...(open.get(extra.socket)?.keys() ?? [])]) end(extra.socket, id, true);
        });
        watchIdle(ctx, await gateway.isKnown(requestOf(ctx, controller.signal), extra.request));
      },
      onComplete: ({ extra }, id) => end(extra.socket, id),
      onError({ extra }, id, _params, errors) {
        end(extra.socket, id);
        return errors.map((error) => publicError(coded(error)));
      },
      onNext: (_ctx, _id, _params, _args, { errors, data, extensions }) =>
        errors === undefined
          ? undefined
          : {
              errors: errors.map(publicError),
              ...(data === undefined ? {} : { data }),
              ...(extensions === undefined ? {} : { extensions }),
            },
      async onSubscribe(ctx, id, params) {
        const { socket } = ctx.extra;
        if (Object.keys(ctx.subscriptions).length > MOST_OPERATIONS) {
          return [new GraphQLError(`A socket carries at most ${MOST_OPERATIONS} operations at a time.`)];
        }
        const request = requestOf(ctx, gone.get(socket)?.signal ?? AbortSignal.abort());
        begin(socket, id, request);
        const refusal = await gateway.admit(request, ctx.extra.request);
        if (refusal !== null) return refuseOperation(socket, id, [withoutHttp(refusal)]);
        try {
          const asked = readMembers({ ...params });
          const query = gateway.documentOf(asked);
          const { schema, execute, subscribe, contextFactory, parse, validate } = gateway.getEnveloped({
            request,
            params: { ...asked, query },
          });
          const document = parse(query);
          const errors = validate(schema, document);
          if (errors.length > 0) return refuseOperation(socket, id, errors);
          const args: ExecutionArgs = {
            schema,
            document,
            operationName: asked.operationName ?? null,
            variableValues: asked.variables ?? null,
            contextValue: await contextFactory(),
          };
          engines.set(args, { execute, subscribe, incoming: ctx.extra.request });
          return args;
        } catch (error) {
          if (error instanceof GraphQLError) return refuseOperation(socket, id, [withoutHttp(error)]);
          end(socket, id);
          throw error;
        }
      },
    },
    sockets,
    patience.ping,
  );

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Whoever leaves in the middle of this is no fault of ours.
    socket.on('error', () => socket.destroy());
    // Thrown here, an address that cannot be read would end the process.
    if (!URL.canParse(request.url ?? '/', 'http://gateway')) refuse(socket, '400 Bad Request');
    else if (new URL(request.url ?? '/', 'http://gateway').pathname !== PATH) refuse(socket, '404 Not Found');
    else if (options.isOwnHost?.(request.headers.host) === false) refuse(socket, '403 Forbidden');
    else if (!isWelcome(request, options.origins)) refuse(socket, '403 Forbidden');
    else {
      const leave = places.take([{ key: clientAddress(request, options.hops ?? 0), share: 1 }]);
      if (leave === null) return refuse(socket, '429 Too Many Requests');
      socket.once('close', leave);
      sockets.handleUpgrade(request, socket, head, (ws) => sockets.emit('connection', ws, request));
    }
  };
  server.on('upgrade', upgrade);

  async function goodbye(): Promise<void> {
    server.off('upgrade', upgrade);
    const late = setTimeout(() => {
      for (const client of sockets.clients) client.terminate();
    }, GOODBYE_MS);
    await graphql.dispose();
    clearTimeout(late);
  }

  let closing: Promise<void> | undefined;
  return {
    close() {
      closing ??= goodbye();
      return closing;
    },
  };
}
