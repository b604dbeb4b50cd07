// GraphQL over WebSocket (graphql-transport-ws) on the same path, with the same context, plugins
// and limits as HTTP. The token in connectionParams is read as the Authorization header,
// before that of the upgrade.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, type Context, handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { Gateway } from '../../gateway.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import { clientIp, loopbackRefusal } from '../auth/node-request.ts';
import { overloaded } from '../errors.ts';
import { readMembers } from '../graphql/read-params.ts';
import { toClientError } from '../graphql/serialize-result.ts';
import { createConcurrencyQuota } from '../limits/load-shedding.ts';
import { withErrorCode } from '../plugins/errors.ts';
import { INVALID_TARGET, normalizeTarget } from '../request-target.ts';
import {
  authorizationIn,
  type Connection,
  closeWhenIdle,
  openConnection,
  PATH,
  refuseConnection,
  requestOf,
  TRY_AGAIN_LATER,
} from './connection.ts';
import {
  isWebSocketRequest,
  OTHER_PROTOCOL,
  refuseUpgrade,
  type UpgradeRules,
  upgradeRefusal,
} from './upgrade.ts';

/** Operations that one socket may have open at the same time. */
const MAX_OPERATIONS = 1000;
/** Characters of the id that a client gives an operation. */
const MAX_ID_CHARACTERS = 128;
/** How long operations may take to end when the server stops, where `close` does not say. */
const CLOSE_MS = 2_000;
/** WebSocket close code (RFC 6455): the server stops. */
const GOING_AWAY = 1001;

export interface WebSocketOptions extends Omit<UpgradeRules, 'path'> {
  /** Bytes of one message at most. */
  readonly maxBytes: number;
  /** Sockets that one address may have open; any number when absent or 0. */
  readonly maxPerAddress?: number;
  /** Whether the gateway holds a key for this machine only and asks for no proof. */
  readonly keyForLoopback?: boolean;
  /** Proxies in front that are believed about addresses; 0 when absent. */
  readonly hops?: number;
  /** Times in milliseconds, for tests. */
  readonly patience?: Partial<Patience>;
  /** Called with faults of the gateway itself. */
  readonly onFault: (error: unknown) => void;
}

interface Patience {
  /** Until connection_init. */
  readonly init: number;
  /** Between two pings. */
  readonly ping: number;
  /** Without an operation. */
  readonly idle: number;
}

const PATIENCE: Patience = { init: 5_000, ping: 12_000, idle: 300_000 };

/** Open sockets. */
export interface SocketServer {
  /**
   * Takes no new connections and operations, and closes each connection with 1001 when its operations
   * have been answered. Complete the streams before.
   *
   * @param milliseconds - after which connections are cut
   */
  close(milliseconds?: number): Promise<void>;
}

type Params = Record<string, unknown>;
type SocketContext = Context<Params, Connection>;
type Engine = Pick<ReturnType<Gateway['getEnveloped']>, 'execute' | 'subscribe'> & {
  readonly exchange: RequestRecord;
};

/**
 * Stands for an operation until its results are streamed: graphql-ws returns it when the client
 * completes the operation, of which it tells nothing else.
 */
const untilStreamed = (leave: () => void): AsyncIterableIterator<never> => ({
  next: async () => ({ done: true, value: undefined }),
  async return() {
    leave();
    return { done: true, value: undefined };
  },
  [Symbol.asyncIterator]() {
    return this;
  },
});

/** Serves GraphQL over WebSocket on a node server. */
export function attachWebSocket(server: Server, gateway: Gateway, options: WebSocketOptions): SocketServer {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: options.maxBytes, handleProtocols });
  const engines = new WeakMap<ExecutionArgs, Engine>();
  const places = createConcurrencyQuota(options.maxPerAddress ?? 0);
  const patience = { ...PATIENCE, ...options.patience };
  const { onFault } = options;
  const connections = new Set<Connection>();
  let closing: Promise<void> | undefined;

  const closeAnswered = ({ socket, operations }: Connection): void => {
    if (operations.size === 0) refuseConnection(socket, GOING_AWAY, 'Going away');
  };
  const end = (connection: Connection, id: string, left = false): void => {
    const operation = connection.operations.get(id);
    if (operation === undefined) return;
    connection.operations.delete(id);
    // graphql-ws sends the last message of an operation after its hooks.
    if (closing !== undefined) setImmediate(closeAnswered, connection);
    // First: the end of its record lets go of its signal.
    if (left) operation.leaving.abort();
    gateway.telemetry.end(operation.exchange, { status: 200, bytes: undefined, left });
  };
  const count = (errors: readonly GraphQLError[], exchange: RequestRecord | undefined): void => {
    for (const { extensions } of errors) gateway.telemetry.failed(String(extensions.code), exchange);
  };
  /** Ends an operation with errors of no execution. @returns them as they are shown */
  const refuseOperation = (connection: Connection, id: string, errors: readonly GraphQLError[]) => {
    const shown = errors.map(withErrorCode);
    const operation = connection.operations.get(id);
    if (operation !== undefined) count(shown, operation.exchange);
    end(connection, id);
    return shown;
  };

  const engineOf = (args: ExecutionArgs): Engine => {
    const engine = engines.get(args);
    if (engine === undefined) throw new Error('An operation came past onSubscribe.');
    return engine;
  };

  /** Executes a query or mutation, which counts like a request. */
  const executeCounted = async (args: ExecutionArgs) => {
    const { exchange, execute } = engineOf(args);
    const leave = gateway.enter();
    if (leave === null) {
      gateway.metrics.refused.inc({ reason: 'busy' });
      const errors = [overloaded()];
      count(errors, exchange);
      return { errors };
    }
    try {
      return await execute(args);
    } finally {
      leave();
    }
  };

  /** Authenticates a connection. @returns whether it is acknowledged */
  async function acknowledge(ctx: SocketContext): Promise<boolean> {
    const connection = ctx.extra;
    const authorization = authorizationIn(ctx.connectionParams);
    // Only the token is stored.
    Object.assign(ctx, { connectionParams: undefined });
    if (authorization === null) {
      refuseConnection(connection.socket, CloseCode.Unauthorized, 'The token is malformed');
      return false;
    }
    // Clients other than browsers may send headers with the upgrade.
    connection.authorization = authorization ?? connection.incoming.headers.authorization;
    const refusal = await gateway.identify(requestOf(connection, connection.signal), connection.incoming);
    if (refusal !== null) {
      const isWrong = refusal.extensions.code === 'UNAUTHENTICATED';
      const [code, reason] = isWrong
        ? [CloseCode.Unauthorized, 'Unauthorized']
        : [TRY_AGAIN_LATER, 'Try again later'];
      refuseConnection(connection.socket, code, reason);
      return false;
    }
    connection.isAcknowledged = true;
    closeWhenIdle(connection.socket, patience.idle, () => Object.keys(ctx.subscriptions).length > 0);
    return true;
  }

  const graphql = makeServer<Params, Connection>({
    connectionInitWaitTimeout: patience.init,
    execute: executeCounted,
    subscribe: (args) => engineOf(args).subscribe(args),
    onConnect: acknowledge,
    onClose({ extra }) {
      for (const id of [...extra.operations.keys()]) end(extra, id, true);
    },
    onComplete: ({ extra }, id) => end(extra, id),
    onError: ({ extra }, id, _params, errors) => refuseOperation(extra, id, errors).map(toClientError),
    onNext: (_ctx, _id, _params, _args, { errors, data, extensions }) =>
      errors === undefined
        ? undefined
        : {
            errors: errors.map(toClientError),
            ...(data === undefined ? {} : { data }),
            ...(extensions === undefined ? {} : { extensions }),
          },
    async onSubscribe({ extra: connection, subscriptions }, id, params) {
      // It is left unanswered: the client sends it again over its next connection.
      if (closing !== undefined) return new Promise<never>(() => undefined);
      if (Object.keys(subscriptions).length > MAX_OPERATIONS)
        return [new GraphQLError(`A socket carries at most ${MAX_OPERATIONS} operations at a time.`)];
      if (id.length > MAX_ID_CHARACTERS)
        return [new GraphQLError(`The id of an operation has at most ${MAX_ID_CHARACTERS} characters.`)];
      const leaving = new AbortController();
      const request = requestOf(connection, leaving.signal);
      const exchange = gateway.telemetry.begin(request, 'WS');
      connection.operations.set(id, { exchange, leaving });
      subscriptions[id] = untilStreamed(() => end(connection, id, true));
      const refusal =
        (await gateway.admit(request, connection.incoming)) ??
        (await gateway.identify(request, connection.incoming));
      // The token of the connection has ended since: only a new connection can bring another.
      if (refusal?.extensions.code === 'UNAUTHENTICATED')
        setImmediate(refuseConnection, connection.socket, CloseCode.Unauthorized, 'Unauthorized');
      if (refusal !== null) return refuseOperation(connection, id, [refusal]);
      try {
        const asked = readMembers({ ...params });
        const query = gateway.documentOf(asked);
        const { schema, execute, subscribe, contextFactory, parse, validate } = gateway.getEnveloped({
          request,
          params: { ...asked, query },
        });
        const document = parse(query);
        const errors = validate(schema, document);
        if (errors.length > 0) return refuseOperation(connection, id, errors);
        const args: ExecutionArgs = {
          schema,
          document,
          operationName: asked.operationName ?? null,
          variableValues: asked.variables ?? null,
          contextValue: await contextFactory(),
        };
        engines.set(args, { execute, subscribe, exchange });
        return args;
      } catch (error) {
        if (error instanceof GraphQLError) return refuseOperation(connection, id, [error]);
        end(connection, id);
        throw error;
      }
    },
  });

  const upgrade = (request: IncomingMessage, raw: Duplex, head: Buffer) => {
    raw.on('error', () => raw.destroy());
    if (!normalizeTarget(request)) return refuseUpgrade(raw, '400 Bad Request', INVALID_TARGET);
    if (!isWebSocketRequest(request)) return refuseUpgrade(raw, '400 Bad Request', OTHER_PROTOCOL);
    const refusal = upgradeRefusal(request, { ...options, path: PATH });
    if (refusal !== undefined) return refuseUpgrade(raw, refusal);
    const notLocal = options.keyForLoopback === true ? loopbackRefusal(request.headers) : null;
    if (notLocal !== null) return refuseUpgrade(raw, '403 Forbidden', `${notLocal}\n`);
    const leave = places.take([{ key: clientIp(request, options.hops ?? 0), share: 1 }]);
    if (leave === null) return refuseUpgrade(raw, '429 Too Many Requests');
    raw.once('close', leave);
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const connection = openConnection(socket, raw, request, {
        server: graphql,
        pingMs: patience.ping,
        onFault,
      });
      connections.add(connection);
      socket.once('close', () => connections.delete(connection));
    });
  };
  server.on('upgrade', upgrade);

  async function closeAll(milliseconds: number): Promise<void> {
    server.off('upgrade', upgrade);
    for (const connection of connections) closeAnswered(connection);
    const late = setTimeout(() => {
      for (const { socket } of connections) socket.terminate();
    }, milliseconds);
    await new Promise<void>((resolve) => sockets.close(() => resolve()));
    clearTimeout(late);
  }

  return {
    close(milliseconds = CLOSE_MS) {
      closing ??= closeAll(milliseconds);
      return closing;
    },
  };
}
