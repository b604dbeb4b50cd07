// Shows callers masked errors with codes, in every result and every part of one, and counts them.
// Errors of the way to the execution are masked by Yoga, with the same function.
import type { GraphQLError } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { withoutRepetitions } from '../../execution/counted-schema.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { ExecutionOrIncrementalResult } from '../graphql/serialize-result.ts';
import type { ClientErrors } from './errors.ts';

type WithErrors = { readonly errors?: readonly GraphQLError[] };

export function useErrors({ ofResult, ofAnswer }: ClientErrors, telemetry: Telemetry): Plugin {
  const shown = <T extends WithErrors>(result: T, exchange: RequestRecord): T =>
    result.errors === undefined ? result : { ...result, errors: ofResult(result.errors, exchange) };

  /** A part of a result in parts. */
  const shownPart = <T extends WithErrors>(part: T, exchange: RequestRecord): T =>
    part.errors === undefined ? part : shown({ ...part, errors: withoutRepetitions(part.errors) }, exchange);

  function shownInParts(
    { incremental, ...result }: ExecutionOrIncrementalResult,
    exchange: RequestRecord,
  ): ExecutionOrIncrementalResult {
    const parts = incremental?.map((part) => shownPart(part, exchange));
    return { ...shownPart(result, exchange), ...(parts === undefined ? {} : { incremental: parts }) };
  }

  /** The hook for the results of an operation. */
  const showAll = (request: Request) => (done: Parameters<typeof handleStreamOrSingleExecutionResult>[0]) =>
    handleStreamOrSingleExecutionResult(done, ({ result, setResult }) => {
      const exchange = telemetry.exchangeOf(request);
      if ('hasNext' in result) setResult(shownInParts(result, exchange));
      else if (result.errors !== undefined) setResult(shown(result, exchange));
    });

  return {
    onExecute: ({ context }) => ({ onExecuteDone: showAll(context.request) }),
    onSubscribe: ({ context }) => ({ onSubscribeResult: showAll(context.request) }),
    onResultProcess({ request, result, setResult }) {
      if (!('errors' in result) || result.errors === undefined) return;
      setResult({ ...result, errors: ofAnswer(result.errors, request) });
    },
  };
}
