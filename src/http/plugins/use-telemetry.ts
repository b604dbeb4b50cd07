// Reports requests to the telemetry: start, operation, errors, end of the response; and to the
// caller, on request, its upstream calls. Must be the first plugin, so that refusals of later ones
// are recorded.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { mapAsyncIterator } from '@graphql-tools/utils';
import { type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { traceparent } from '../../telemetry/tracing.ts';
import { type CallRecord, openCallRecord } from '../../upstream/http/call-record.ts';
import { nodeResponseOf } from '../auth/node-request.ts';

/** The request of each error, for masking, which sees only the error. */
export type ErrorOwners = WeakMap<object, RequestRecord>;

/** Ends the record of a request when its response is sent, or its client has left. */
export function endWithConnection(
  telemetry: Telemetry,
  exchange: RequestRecord,
  socket: Socket,
  response: ServerResponse,
): void {
  const before = socket.bytesWritten;
  response.once('close', () => {
    const bytes = socket.bytesWritten - before;
    telemetry.end(exchange, { status: response.statusCode, bytes, left: !response.writableFinished });
  });
}

/** @param isHead - whether a GET came as HEAD */
export function useTelemetry(
  telemetry: Telemetry,
  owners: ErrorOwners,
  isHead: (request: Request) => boolean,
): Plugin {
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
      const exchange = telemetry.begin(request, isHead(request) ? 'HEAD' : undefined);
      const connection = nodeResponseOf(serverContext);
      if (connection !== undefined) endWithConnection(telemetry, exchange, connection.req.socket, connection);
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
      if (nodeResponseOf(serverContext) !== undefined) return;
      telemetry.end(exchange, { status: response.status, bytes: undefined, left: false });
    },
  };
}

/** With the value 1, the response reports its upstream calls in `extensions.upstream`. */
export const REPORT_HEADER = 'x-upstream-report';

const records = new WeakMap<Request, CallRecord>();

/** The call record of a request with the report header; undefined for others. */
export function callRecordOf(request: Request): CallRecord | undefined {
  if (request.headers.get(REPORT_HEADER) !== '1') return undefined;
  const record = records.get(request) ?? openCallRecord();
  records.set(request, record);
  return record;
}

const reported = (result: ExecutionResult, record: CallRecord): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: record.read() },
});

/**
 * Whether this is the last part of a result. Events of subscriptions are no parts and have no
 * report.
 */
const isLast = (result: ExecutionResult): boolean => 'hasNext' in result && result.hasNext === false;

export const useUpstreamReport = (): Plugin => ({
  onExecutionResult({ request, result, setResult }) {
    const record = records.get(request);
    if (record === undefined || result === undefined || Array.isArray(result)) return;
    if (Symbol.asyncIterator in result)
      setResult(mapAsyncIterator(result, (part) => (isLast(part) ? reported(part, record) : part)));
    else setResult(reported(result, record));
  },
});
