// Tells a caller that asks by `x-upstream-report: 1` what its request cost upstream, in `extensions.upstream`. It knows no
// operation and decides nothing.
import { mapAsyncIterator } from '@graphql-tools/utils';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { type CallRecord, openCallRecord } from '../../upstream/http/call-record.ts';

/** The header by which a report is asked for. */
export const REPORT_HEADER = 'x-upstream-report';

const records = new WeakMap<Request, CallRecord>();

/** The record of a request that asks for a report, the same whenever asked; undefined for all others. */
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

/** Whether nothing follows a part of a result. Events of subscriptions, which cost what they cost, are no parts. */
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
