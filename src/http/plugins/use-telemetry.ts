// Reports requests to the telemetry: start, operation, errors, end of the response; and to the
// caller, on request, its upstream calls. Must be the first plugin, so that refusals of later ones
// are recorded.
import { type GraphQLError, getOperationAST } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { traceparent } from '../../telemetry/trace-context.ts';
import { nodeResponseOf } from '../auth/node-request.ts';

/** The request of each error, for masking, which sees only the error. */
export type ErrorOwners = WeakMap<object, RequestRecord>;

/** Bytes that a connection has sent. */
const sentBy = (serverContext: unknown): number | undefined =>
  nodeResponseOf(serverContext)?.req.socket.bytesWritten;

export function useTelemetry(telemetry: Telemetry, owners: ErrorOwners): Plugin {
  const own =
    (exchange: RequestRecord) =>
    ({ result }: { result: { errors?: readonly GraphQLError[] } }) => {
      for (const error of result.errors ?? []) owners.set(error, exchange);
    };
  return {
    onPluginInit({ registerContextErrorHandler }) {
      registerContextErrorHandler(({ context, error }) => {
        const { request } = context as { request?: unknown };
        if (request instanceof Request && typeof error === 'object' && error !== null)
          owners.set(error, telemetry.exchangeOf(request));
      });
    },
    onRequest({ request, serverContext }) {
      const exchange = telemetry.begin(request);
      const connection = nodeResponseOf(serverContext);
      if (connection === undefined) return;
      const { socket } = connection.req;
      const before = socket.bytesWritten;
      connection.once('close', () =>
        telemetry.end(exchange, {
          status: connection.statusCode,
          bytes: socket.bytesWritten - before,
          left: !connection.writableFinished,
        }),
      );
    },
    onExecute({ args, context }) {
      const exchange = telemetry.exchangeOf(context.request);
      const ast = getOperationAST(args.document, args.operationName);
      if (ast != null)
        telemetry.setOperation(exchange, { type: ast.operation, name: ast.name?.value ?? null });
      return { onExecuteDone: (done) => handleStreamOrSingleExecutionResult(done, own(exchange)) };
    },
    onSubscribe({ args, context }) {
      const exchange = telemetry.exchangeOf(context.request);
      const ast = getOperationAST(args.document, args.operationName);
      telemetry.setOperation(exchange, { type: 'subscription', name: ast?.name?.value ?? null });
      return { onSubscribeResult: (done) => handleStreamOrSingleExecutionResult(done, own(exchange)) };
    },
    onResponse({ request, response, serverContext }) {
      const exchange = telemetry.exchangeOf(request);
      response.headers.set('traceresponse', traceparent(exchange.step.context));
      if (sentBy(serverContext) !== undefined) return;
      telemetry.end(exchange, { status: response.status, bytes: undefined, left: false });
    },
  };
}
