// The hooks of graphql-ws: connections are authenticated, and operations go through the limits, the
// plugins and the telemetry of HTTP.
import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import { CloseCode, type ServerOptions } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import type { YogaServerInstance } from 'graphql-yoga';
import type { WebSocket } from 'ws';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { AccessControl } from '../access/access-control.ts';
import { overloaded } from '../errors.ts';
import { setExchange } from '../exchange.ts';
import { toClientError } from '../graphql/http-result.ts';
import { maskError, withErrorCode } from '../graphql/plugins/mask-error.ts';
import { type RequestParams, readParams } from '../graphql/read-request.ts';
import { operationHeaders, readAuthorization, toRequest } from './operation-request.ts';
import { PATH } from './upgrade.ts';

/** The parts of a gateway that sockets need. */
export interface SocketGateway {
  readonly accessControl: AccessControl;
  readonly telemetry: Telemetry;
  readonly metrics: Metrics;
  /**
   * The document text of a request.
   *
   * @throws GraphQLError when the request names none, or an unknown one
   */
  documentText(params: RequestParams): string;
  /** Parses, validates and executes with all plugins of Yoga. */
  readonly getEnveloped: YogaServerInstance<object, object>['getEnveloped'];
}

export interface SocketOperation {
  readonly record: RequestRecord;
  /** Aborted when the client completes the operation early, or when its connection is closed. */
  readonly client: AbortController;
  /** Ends its count among the requests in flight. */
  release: () => void;
}

export interface SocketConnection {
  /** Value of the Authorization header for all operations of the connection. */
  authorization: string | undefined;
  operations: Map<string, SocketOperation>;
}

export type Params = Record<string, unknown>;
type SocketExtra = Extra & Partial<SocketConnection>;
type Hooks = ServerOptions<Params, SocketExtra>;
type Executor = Pick<ReturnType<SocketGateway['getEnveloped']>, 'execute' | 'subscribe'>;

export interface SocketOperations {
  readonly hooks: Hooks;
  /** How many operations are open. */
  readonly openCount: number;
  /** Whether the connection of a socket has been acknowledged. */
  isAcknowledged(socket: WebSocket): boolean;
  /** Leaves new operations unanswered: clients send them again over their next connection. */
  stop(): void;
}

/** WebSocket close code (IANA): the client may try again later. */
const TRY_AGAIN_LATER = 1013;

/** @param onFault - called with faults of the gateway itself */
export function createSocketOperations(
  gateway: SocketGateway,
  onFault: (error: unknown) => void,
): SocketOperations {
  const { accessControl, telemetry, metrics } = gateway;
  const executors = new WeakMap<ExecutionArgs, Executor>();
  const acknowledged = new WeakSet<WebSocket>();
  let openCount = 0;
  let isStopped = false;

  const onConnect: Hooks['onConnect'] = async ({ extra, connectionParams }) => {
    const { socket, request } = extra;
    const given = readAuthorization(connectionParams);
    // Clients other than browsers may send headers with the upgrade.
    extra.authorization = given ?? request.headers.authorization;
    extra.operations = new Map();
    const address = accessControl.clientAddress(request);
    const caller = await accessControl.callers.authenticate(extra.authorization, address);
    if (given === null) socket.close(CloseCode.Unauthorized, 'The token is malformed');
    else if (!(caller instanceof GraphQLError)) acknowledged.add(socket);
    else if (caller.extensions.code === 'UNAUTHENTICATED')
      socket.close(CloseCode.Unauthorized, 'Unauthorized');
    else socket.close(TRY_AGAIN_LATER, 'Try again later');
    return acknowledged.has(socket);
  };

  /** Parses and validates an operation. @throws GraphQLError */
  async function prepare(
    request: Request,
    payload: object,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const params = readParams(payload);
    const query = gateway.documentText(params);
    const { schema, execute, subscribe, contextFactory, parse, validate } = gateway.getEnveloped({
      request,
      params: { ...params, query },
    });
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) return errors;
    const { operationName = null, variables: variableValues = null } = params;
    const contextValue = await contextFactory();
    const args = { schema, document, operationName, variableValues, contextValue };
    executors.set(args, { execute, subscribe });
    return args;
  }

  /** Counts an operation among the requests in flight; subscriptions have a limit of their own. */
  function enter({ document, operationName }: ExecutionArgs, operation: SocketOperation): boolean {
    const release = accessControl.loadShedder.enter();
    if (release === null) return false;
    if (getOperationAST(document, operationName)?.operation === 'subscription') release();
    else operation.release = release;
    return true;
  }

  const refuse = (reason: 'rate' | 'busy', error: GraphQLError): readonly GraphQLError[] => {
    metrics.refused.inc({ reason });
    return [error];
  };

  const onSubscribe: Hooks['onSubscribe'] = async ({ extra, subscriptions }, id, payload) => {
    if (isStopped) return new Promise<never>(() => undefined);
    const client = new AbortController();
    const { authorization, request: upgrade } = extra;
    const headers = operationHeaders(upgrade, authorization);
    const record = telemetry.begin({ method: 'WS', path: PATH, headers });
    const operation: SocketOperation = { client, record, release: () => undefined };
    extra.operations?.set(id, operation);
    openCount += 1;
    subscriptions[id] = untilStreamed(() => end(extra, id, true));
    try {
      // Authenticated again, and counted like a POST.
      const method = 'POST';
      const address = accessControl.clientAddress(upgrade);
      const check = await accessControl.check({ method, authorization, address });
      const { refusal } = check;
      if (refusal?.reason === 'credentials') {
        // The token has expired since the acknowledgement: only a new connection can bring another.
        setImmediate(() => extra.socket.close(CloseCode.Unauthorized, 'Unauthorized'));
        return [refusal.error];
      }
      if (refusal !== null) return refuse('rate', refusal.error);
      const request = toRequest(upgrade, headers, client.signal);
      setExchange(request, {
        ...{ method, url: PATH, path: PATH, headers, address, record, release: () => undefined },
        ...{ ...check, connection: undefined, body: undefined },
      });
      const prepared = await prepare(request, payload);
      const isBusy = 'schema' in prepared && !enter(prepared, operation);
      return isBusy ? refuse('busy', overloaded()) : prepared;
    } catch (error) {
      return [maskError(error, onFault, false)];
    }
  };

  function end({ operations }: SocketExtra, id: string, isDisconnected = false): void {
    const operation = operations?.get(id);
    if (operation === undefined) return;
    operations?.delete(id);
    openCount -= 1;
    operation.release();
    // First: the end of its record lets go of its signal.
    if (isDisconnected) operation.client.abort();
    telemetry.end(operation.record, { status: 200, isDisconnected });
  }

  return {
    hooks: {
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
        const record = extra.operations?.get(id)?.record;
        for (const { extensions } of shown) telemetry.countError(String(extensions.code), record);
        end(extra, id);
        return shown.map(toClientError);
      },
      onComplete: ({ extra }, id) => end(extra, id),
      onClose({ extra }) {
        for (const id of [...(extra.operations?.keys() ?? [])]) end(extra, id, true);
      },
    },
    get openCount() {
      return openCount;
    },
    isAcknowledged: (socket) => acknowledged.has(socket),
    stop() {
      isStopped = true;
    },
  };
}

/**
 * Stands for an operation until its results are streamed: graphql-ws returns it when the client
 * completes the operation, and has no hook for that.
 */
const untilStreamed = (onReturn: () => void) => ({
  async *[Symbol.asyncIterator]() {},
  return: async () => onReturn(),
});
