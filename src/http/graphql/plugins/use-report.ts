// Adds the operation to the record of its request, and the upstream calls to the result of a
// request that asks for this report.
import { mapAsyncIterator } from '@graphql-tools/utils';
import { type ExecutionArgs, type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { CallRecord } from '../../../telemetry/upstream-calls.ts';
import { getExchange } from '../../exchange.ts';

export const useReport: Plugin = {
  onExecute: ({ args, context }) => recordOperation(args, context.request),
  onSubscribe: ({ args, context }) => recordOperation(args, context.request),
  onExecutionResult({ request, result, setResult }) {
    const { report } = getExchange(request).record;
    if (report === undefined || result === undefined || Array.isArray(result)) return;
    if (Symbol.asyncIterator in result)
      setResult(mapAsyncIterator(result, (part) => (isLast(part) ? withReport(part, report) : part)));
    else setResult(withReport(result, report));
  },
};

function recordOperation({ document, operationName }: ExecutionArgs, request: Request): void {
  const operation = getOperationAST(document, operationName);
  if (operation == null) return;
  const { operation: type, name } = operation;
  getExchange(request).record.operation = { type, name: name?.value ?? null };
}

const withReport = (result: ExecutionResult, report: CallRecord): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: report.read() },
});

/**
 * Whether this is the last part of a result. Events of subscriptions are no parts and have no
 * report.
 */
const isLast = (result: ExecutionResult): boolean => 'hasNext' in result && result.hasNext === false;
