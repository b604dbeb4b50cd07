// The hooks of graphql-ws: connections are authenticated, and operations go through the limits, the
// plugins and the telemetry of HTTP.
import { type ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, type ServerOptions } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import type { WebSocket } from 'ws';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { Exchange } from '../exchange.ts';
import { overloaded } from '../failures/errors.ts';
import type { Failures } from '../failures/failures.ts';
import { toClientError } from '../graphql/http-result.ts';
import { readParams } from '../graphql/read-request.ts';
import type { OperationOutcome, Operations, PreparedOperation, Result } from '../graphql/run-operation.ts';
import { operationHeaders, readAuthorization } from './operation-request.ts';
import { PATH } from './upgrade.ts';

/** The parts of a gateway that sockets need. */
export interface SocketGateway {
  readonly accessControl: AccessControl;
  readonly telemetry: Telemetry;
  readonly failures: Failures;
  readonly operations: Operations;
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
/**
 * Characters of the id that a client gives an operation, usually a UUID: each answer repeats it.
 */
const MAX_ID_CHARACTERS = 200;
const LONG_ID = `The id of an operation has at most ${MAX_ID_CHARACTERS} characters`;

export function createSocketOperations(gateway: SocketGateway): SocketOperations {
  const { accessControl, telemetry, failures, operations: graphql } = gateway;
  const prepared = new WeakMap<ExecutionArgs, () => Promise<OperationOutcome>>();
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

  /** Counts an operation among the requests in flight; subscriptions have a limit of their own. */
  function enter({ type }: PreparedOperation, operation: SocketOperation): boolean {
    const release = accessControl.loadShedder.enter();
    if (release === null) return false;
    if (type === 'subscription') release();
    else operation.release = release;
    return true;
  }

  const onSubscribe: Hooks['onSubscribe'] = async ({ extra, subscriptions }, id, payload) => {
    if (id.length > MAX_ID_CHARACTERS) extra.socket.close(CloseCode.BadRequest, LONG_ID);
    if (isStopped || id.length > MAX_ID_CHARACTERS) return new Promise<never>(() => undefined);
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
      if (refusal !== null) return [failures.refuse('rate', refusal.error, operation)];
      const { host = 'localhost' } = upgrade.headers;
      const exchange: Exchange = {
        ...{ method, url: PATH, path: PATH, origin: `http://${host}`, headers, address, record },
        ...{ ...check, remoteAddress: upgrade.socket.remoteAddress, body: undefined },
        ...{ signal: client.signal, release: () => undefined },
        onEnd: (cleanUp) => record.onEnd.push(cleanUp),
        share: (run) => run(exchange),
      };
      const params = readParams(payload);
      const parsed = graphql.prepare(exchange, params);
      if (!('run' in parsed)) return parsed;
      if (!enter(parsed, operation)) return [failures.refuse('busy', overloaded(), operation)];
      const args = { schema: parsed.schema, document: parsed.document, operationName: params.operationName };
      prepared.set(args, () => parsed.run(exchange));
      return args;
    } catch (error) {
      return [failures.fail(error, operation)];
    }
  };

  async function run(args: ExecutionArgs): Promise<Result> {
    const outcome = await prepared.get(args)?.();
    if (outcome === undefined) throw new Error('graphql-ws runs what was not prepared.');
    return outcome.result;
  }

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
      execute: run,
      subscribe: run,
      onNext: (_ctx, _id, _payload, _args, { errors, data, extensions }) =>
        errors && {
          errors: errors.map(toClientError),
          ...(data === undefined ? {} : { data }),
          ...(extensions === undefined ? {} : { extensions }),
        },
      onError({ extra }, id, _payload, errors) {
        const { operations } = extra;
        const operation = operations?.get(id);
        const shown =
          operation === undefined ? errors : errors.map((error) => failures.fail(error, operation));
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
