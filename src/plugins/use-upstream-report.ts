// Tells a caller that asks by `x-upstream-report: 1` what its request cost upstream, in `extensions.upstream`. It knows no
// operation and decides nothing.
import type { Plugin } from 'graphql-yoga';
import { type CallRecord, openCallRecord } from '../upstream/call-record.ts';

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

export const useUpstreamReport = (): Plugin => ({
  onExecutionResult({ request, result, setResult }) {
    const record = records.get(request);
    if (
      record === undefined ||
      result === undefined ||
      Array.isArray(result) ||
      Symbol.asyncIterator in result
    )
      return;
    setResult({ ...result, extensions: { ...result.extensions, upstream: record.read() } });
  },
});
