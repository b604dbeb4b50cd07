// Tells a caller that asks by `x-upstream-report: 1` what its request cost upstream, in
// `extensions.upstream`. It knows no operation and decides nothing.
import { mapAsyncIterator } from '@graphql-tools/utils';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type CallRecord, openCallRecord } from '../../upstream/http/call-record.ts';

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
