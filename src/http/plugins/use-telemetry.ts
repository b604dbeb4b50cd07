// Tells the telemetry what a request asks, and the caller, on request, its upstream calls.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { mapAsyncIterator } from '@graphql-tools/utils';
import { type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { createPrivateField } from '../../private-field.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { type CallRecord, openCallRecord } from '../../upstream/http/call-record.ts';

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

/** With the value 1, the response reports its upstream calls in `extensions.upstream`. */
export const REPORT_HEADER = 'x-upstream-report';

const records = createPrivateField<Request, CallRecord>();

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

export function useTelemetry(telemetry: Telemetry): Plugin {
  function note({ document, operationName }: ExecutionArgs, request: Request): void {
    const operation = getOperationAST(document, operationName);
    if (operation == null) return;
    const { operation: type, name } = operation;
    telemetry.setOperation(telemetry.exchangeOf(request), { type, name: name?.value ?? null });
  }
  return {
    onExecute: ({ args, context }) => note(args, context.request),
    onSubscribe: ({ args, context }) => note(args, context.request),
    onExecutionResult({ request, result, setResult }) {
      const record = records.get(request);
      if (record === undefined || result === undefined || Array.isArray(result)) return;
      if (Symbol.asyncIterator in result)
        setResult(mapAsyncIterator(result, (part) => (isLast(part) ? reported(part, record) : part)));
      else setResult(reported(result, record));
    },
  };
}
