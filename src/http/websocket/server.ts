// GraphQL over WebSocket (graphql-transport-ws): graphql-ws with the plugins and limits of HTTP. The token in
// connectionParams stands for the Authorization header.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import { CloseCode, type Context, type ServerOptions } from 'graphql-ws';
import { type Extra, useServer } from 'graphql-ws/use/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Gateway } from '../../gateway.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import { overloaded } from '../errors.ts';
import { readMembers } from '../graphql/read-params.ts';
import { toClientError } from '../graphql/serialize-result.ts';
import { maskError, withErrorCode } from '../plugins/errors.ts';
import { readAuthorization, toRequest } from './operation-request.ts';
import { refuseUpgrade, type UpgradeRules, upgradeRefusal } from './upgrade.ts';

export interface WebSocketOptions extends UpgradeRules {
  /** Bytes of one message at most. */
  readonly maxBytes: number;
  /** Sockets that may be open at the same time. */
  readonly maxSockets?: number;
  /** Time between two pings; a client without a pong by the next one is disconnected. */
  readonly pingMs?: number;
  /** Called with faults of the gateway itself. */
  readonly onFault: (error: unknown) => void;
}

/** Open sockets. */
export interface SocketServer {
  /**
   * Takes no new connections and operations, and closes all connections with 1001 when their operations
   * have been answered. Complete the streams before.
   *
   * @param milliseconds - after which connections are cut
   */
  close(milliseconds?: number): Promise<void>;
}

/** Half of the connections that the server takes. */
const MAX_SOCKETS = 2000;
/** Bytes that a client may send before its acknowledgement: enough for a token. */
const MAX_INIT_BYTES = 8 * 1024;
/** How long a client may take to close its end. */
const CLOSE_TIMEOUT_MS = 1_000;
/** How long operations may take to end when the server stops, where `close` does not say. */
const DRAIN_TIMEOUT_MS = 2_000;
const DRAIN_INTERVAL_MS = 20;
/** WebSocket close code (IANA): the client may try again later. */
const TRY_AGAIN_LATER = 1013;

interface Operation {
  readonly exchange: RequestRecord;
  /** Aborted when the client completes the operation before its end, or when the connection is closed. */
  readonly client: AbortController;
  /** Ends its count among the requests in flight. */
  leave: () => void;
}

interface Connection {
  /** Value of the Authorization header that the connection stands for. */
  authorization: string | undefined;
  operations: Map<string, Operation>;
}

type Params = Record<string, unknown>;
type SocketExtra = Extra & Partial<Connection>;
type Executor = Pick<ReturnType<Gateway['getEnveloped']>, 'execute' | 'subscribe'>;

/** Serves GraphQL over WebSocket on a node server. */
export function attachWebSocket(server: Server, gateway: Gateway, options: WebSocketOptions): SocketServer {
  const { maxBytes, maxSockets = MAX_SOCKETS, onFault } = options;
  const { accessControl, telemetry, metrics } = gateway;
  const { loadShedder } = accessControl;
  // The types of ws lack `closeTimeout`.
  const socketOptions = { noServer: true, maxPayload: maxBytes, closeTimeout: CLOSE_TIMEOUT_MS };
  const sockets = new WebSocketServer(socketOptions);
  const executors = new WeakMap<ExecutionArgs, Executor>();
  const acknowledged = new WeakSet<WebSocket>();
  let openOperations = 0;
  let closing: Promise<void> | undefined;

  async function onConnect({ extra, connectionParams }: Context<Params, SocketExtra>): Promise<boolean> {
    const { socket, request } = extra;
    const given = readAuthorization(connectionParams);
    // Clients other than browsers may send headers with the upgrade.
    extra.authorization = given ?? request.headers.authorization;
    extra.operations = new Map();
    const address = accessControl.clientAddress(request);
    const caller = await accessControl.callers.authenticate(extra.authorization, address);
    if (given === null) socket.close(CloseCode.Unauthorized, 'The token is malformed');
    else if (!(caller instanceof GraphQLError)) acknowledged.add(socket);
    else if (caller.extensions.code !== 'UNAUTHENTICATED') socket.close(TRY_AGAIN_LATER, 'Try again later');
    else socket.close(CloseCode.Unauthorized, 'Unauthorized');
    return acknowledged.has(socket);
  }

  /** Authenticates again, and counts the operation like a POST. */
  async function checkAccess({ authorization, request }: SocketExtra, operation: Request) {
    const address = accessControl.clientAddress(request);
    const check = await accessControl.check({ method: 'POST', authorization, address });
    accessControl.remember(operation, check);
    return check.refusal;
  }

  /** Parses and validates an operation. @throws GraphQLError */
  async function prepare(
    request: Request,
    payload: object,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const params = readMembers({ ...payload });
    const query = gateway.documentOf(params);
    const { schema, execute, subscribe, contextFactory, parse, validate } = gateway.getEnveloped({
      request,
      params: { ...params, query },
    });
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) return errors;
    const { operationName = null, variables: variableValues = null } = params;
    const args = { schema, document, operationName, variableValues, contextValue: await contextFactory() };
    executors.set(args, { execute, subscribe });
    return args;
  }

  /** Counts queries and mutations among the requests in flight. Subscriptions have a limit of their own. */
  function enter({ document, operationName }: ExecutionArgs, operation: Operation): boolean {
    if (getOperationAST(document, operationName)?.operation === 'subscription') return !loadShedder.isLate;
    const leave = loadShedder.enter();
    if (leave !== null) operation.leave = leave;
    return leave !== null;
  }

  const refuse = (reason: 'rate' | 'busy', error: GraphQLError): readonly GraphQLError[] => {
    metrics.refused.inc({ reason });
    return [error];
  };

  const onSubscribe: ServerOptions<Params, SocketExtra>['onSubscribe'] = async (ctx, id, payload) => {
    // It is left unanswered: the client sends it again over its next connection.
    if (closing !== undefined) return new Promise<never>(() => undefined);
    const { extra, subscriptions } = ctx;
    const client = new AbortController();
    const request = toRequest(extra.request, extra.authorization, client.signal);
    const operation = { client, exchange: telemetry.begin(request, 'WS'), leave: () => undefined };
    extra.operations?.set(id, operation);
    openOperations += 1;
    subscriptions[id] = untilStreamed(() => end(extra, id, true));
    try {
      const refusal = await checkAccess(extra, request);
      if (refusal?.reason === 'credentials') {
        // The token has expired since the acknowledgement: only a new connection can bring another.
        setImmediate(() => extra.socket.close(CloseCode.Unauthorized, 'Unauthorized'));
        return [refusal.error];
      }
      if (refusal !== null) return refuse('rate', refusal.error);
      const prepared = await prepare(request, payload);
      return 'schema' in prepared && !enter(prepared, operation) ? refuse('busy', overloaded()) : prepared;
    } catch (error) {
      const shown = maskError(error, onFault, false);
      return [shown instanceof GraphQLError ? shown : new GraphQLError(shown.message)];
    }
  };

  function end({ operations }: SocketExtra, id: string, left = false): void {
    const operation = operations?.get(id);
    if (operation === undefined) return;
    operations?.delete(id);
    openOperations -= 1;
    operation.leave();
    // First: the end of its record lets go of its signal.
    if (left) operation.client.abort();
    telemetry.end(operation.exchange, { status: 200, bytes: undefined, left });
  }

  const graphql = useServer<Params, Partial<Connection>>(
    {
      onConnect,
      onSubscribe,
      execute: (args: ExecutionArgs) => executors.get(args)?.execute(args),
      subscribe: (args: ExecutionArgs) => executors.get(args)?.subscribe(args),
      onNext: (_ctx, _id, _payload, _args, { errors, data, extensions }) =>
        errors && {
          errors: errors.map(toClientError),
          ...(data === undefined ? {} : { data }),
          ...(extensions === undefined ? {} : { extensions }),
        },
      onError({ extra }, id, _payload, errors) {
        const shown = errors.map(withErrorCode);
        const exchange = extra.operations?.get(id)?.exchange;
        for (const { extensions } of shown) telemetry.failed(String(extensions.code), exchange);
        end(extra, id);
        return shown.map(toClientError);
      },
      onComplete: ({ extra }, id) => end(extra, id),
      onClose({ extra }) {
        for (const id of [...(extra.operations?.keys() ?? [])]) end(extra, id, true);
      },
    },
    sockets,
    options.pingMs,
  );

  sockets.on('connection', (socket, { socket: raw }) => {
    // graphql-ws prints errors of clients, such as a message that is too large; ws has closed the socket.
    socket.removeAllListeners('error').on('error', () => undefined);
    const before = raw.bytesRead;
    const limitInit = (): void => {
      if (acknowledged.has(socket)) raw.off('data', limitInit);
      else if (raw.bytesRead - before > MAX_INIT_BYTES) socket.terminate();
    };
    raw.on('data', limitInit);
  });

  const upgrade = (request: IncomingMessage, raw: Duplex, head: Buffer): void => {
    raw.on('error', () => raw.destroy());
    const isFull = sockets.clients.size >= maxSockets;
    const refusal =
      upgradeRefusal(request, options) ?? (isFull ? { status: '503 Service Unavailable' } : null);
    if (refusal !== null) refuseUpgrade(raw, refusal);
    else sockets.handleUpgrade(request, raw, head, (socket) => sockets.emit('connection', socket, request));
  };
  server.on('upgrade', upgrade);

  async function closeAll(milliseconds: number): Promise<void> {
    server.off('upgrade', upgrade);
    const deadline = performance.now() + milliseconds;
    while (openOperations > 0 && performance.now() < deadline) await sleep(DRAIN_INTERVAL_MS);
    await graphql.dispose();
  }

  return {
    close(milliseconds = DRAIN_TIMEOUT_MS) {
      closing ??= closeAll(milliseconds);
      return closing;
    },
  };
}

/**
 * Stands for an operation until its results are streamed: graphql-ws returns it when the client completes
 * the operation, and has no hook for that.
 */
const untilStreamed = (leave: () => void) => ({
  async *[Symbol.asyncIterator]() {},
  return: async () => leave(),
});
