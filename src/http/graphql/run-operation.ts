// The one entrance to execution: GraphQL over HTTP and WebSocket, tools of agents and exports run
// their operations here. Yoga's plugins parse, validate and execute (`getEnveloped`); of its hooks
// for HTTP, such as `onParams` and `onExecutionResult`, none is called.
import { mapAsyncIterator, memoize2 } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../../context.ts';
import type { CallRecord } from '../../telemetry/upstream-calls.ts';
import type { Exchange } from '../exchange.ts';
import { httpError } from '../failures/errors.ts';
import type { Fail } from '../failures/failures.ts';
import type { ResultPart } from './http-result.ts';
import type { OperationContext } from './operation-context.ts';
import type { PersistedDocuments } from './plugins/persisted-documents.ts';
import { publicLifetime } from './public-operations.ts';
import type { RequestParams } from './read-request.ts';

/** A result, or its parts one after the other. */
export type Result = ExecutionResult | AsyncIterable<ExecutionResult>;

/** The outcome of an operation. */
export interface OperationOutcome {
  /** Its errors are those that the client sees. */
  readonly result: Result;
  /** Whether it has few values, none of which is a long text: it is serialized in one piece. */
  readonly isSmall: boolean;
  /** The context of its resolvers; undefined where nothing was executed. */
  readonly resolvers: GatewayContext | undefined;
}

/** An operation that was parsed and validated. */
export interface PreparedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** Null for one without a name. */
  readonly name: string | null;
  /** Seconds that its response may be stored and given to every caller; null for a private one. */
  readonly publicSeconds: number | null;
  /**
   * Executes it. Never rejects.
   *
   * @param exchange - that it was prepared for, or a part of it
   */
  run(exchange: Exchange): Promise<OperationOutcome>;
}

export interface Operations {
  /**
   * Parses and validates an operation.
   *
   * @param isOwn - whether the gateway wrote the document itself
   * @returns the errors that the client sees where there is nothing to execute
   */
  prepare(
    exchange: Exchange,
    params: RequestParams,
    isOwn?: boolean,
  ): PreparedOperation | readonly GraphQLError[];
  /** Runs an operation. Never rejects. */
  run(exchange: Exchange, params: RequestParams, isOwn?: boolean): Promise<OperationOutcome>;
}

export interface OperationSources {
  readonly getEnveloped: YogaServerInstance<object, object>['getEnveloped'];
  readonly documents: PersistedDocuments;
  readonly fail: Fail;
  /** CACHE_RECORDS_SECONDS */
  readonly recordSeconds: number;
}

/** A result of fewer values is serialized in one piece. */
const SMALL_VALUES = 500;

const isStream = (result: Result): result is AsyncIterable<ExecutionResult> => Symbol.asyncIterator in result;

const withReport = (result: ExecutionResult, report: CallRecord): ExecutionResult => ({
  ...result,
  extensions: { ...result.extensions, upstream: report.read() },
});

/**
 * Whether this is the last part of a result. Events of subscriptions are no parts and have no
 * report.
 */
const isLast = (result: ExecutionResult): boolean => 'hasNext' in result && result.hasNext === false;

const noOperation = (): GraphQLError =>
  httpError(
    400,
    '`operationName` must name an operation of the document; without it, the document must hold exactly one.',
  );

const refused = (errors: readonly GraphQLError[]): OperationOutcome => ({
  result: { errors },
  isSmall: false,
  resolvers: undefined,
});

export function createOperations({
  getEnveloped,
  documents,
  fail,
  recordSeconds,
}: OperationSources): Operations {
  const lifetime = memoize2((schema: GraphQLSchema, document: DocumentNode) =>
    publicLifetime(schema, document, recordSeconds),
  );

  /** Adds the upstream calls to the result of a request that asks for this report. */
  function addReport(result: Result, { record }: Exchange): Result {
    const { report } = record;
    if (report === undefined) return result;
    return isStream(result)
      ? mapAsyncIterator(result, (part) => (isLast(part) ? withReport(part, report) : part))
      : withReport(result, report);
  }

  const withErrors = <T extends Pick<ResultPart, 'errors'>>(part: T, exchange: Exchange): T =>
    part.errors === undefined ? part : { ...part, errors: part.errors.map((error) => fail(error, exchange)) };

  /** A result, or a part of one, with the errors that its client sees. */
  function toShown(part: ResultPart, exchange: Exchange): ResultPart {
    const { incremental } = part;
    const shown = withErrors(part, exchange);
    return incremental === undefined
      ? shown
      : { ...shown, incremental: incremental.map((later) => withErrors(later, exchange)) };
  }

  /** The same for each part; the failure of a stream is its last one. */
  const showErrors = (result: Result, exchange: Exchange): Result =>
    isStream(result)
      ? mapAsyncIterator(
          result,
          (part) => toShown(part, exchange),
          (error: unknown) => {
            if (exchange.signal.aborted) throw error;
            return { errors: [fail(error, exchange)] };
          },
        )
      : toShown(result, exchange);

  /** @throws what refuses the operation */
  function parseAndValidate(
    exchange: Exchange,
    params: RequestParams,
    isOwn: boolean,
  ): PreparedOperation | readonly GraphQLError[] {
    const { operationName, variables: variableValues } = params;
    const text = documents.documentText(params);
    const { schema, parse, validate, execute, subscribe } = getEnveloped({ exchange, isOwn });
    const document: DocumentNode = parse(text);
    const operation = getOperationAST(document, operationName);
    if (operation == null) throw noOperation();
    const { operation: type } = operation;
    const name = operation.name?.value ?? null;
    if (type === 'mutation' && exchange.method !== 'POST')
      throw httpError(
        405,
        'Send a mutation by POST, as JSON with `content-type: application/json`. GET runs queries.',
        {
          headers: { allow: 'POST' },
        },
      );
    const invalid = validate(schema, document);
    if (invalid.length > 0) return invalid;
    return {
      schema,
      document,
      type,
      name,
      publicSeconds: exchange.record.isReported ? null : lifetime(schema, document)(variableValues ?? {}),
      async run(exchange) {
        // A line of the log names the operation of its client.
        if (!isOwn) exchange.record.operation = { type, name };
        const contextValue: OperationContext = { exchange, isOwn };
        const args = { schema, document, contextValue, variableValues, operationName };
        try {
          const result: Result = await (type === 'subscription' ? subscribe : execute)(args);
          const { cost, resolvers } = contextValue;
          const isSmall = cost !== undefined && cost.values < SMALL_VALUES;
          return { result: addReport(showErrors(result, exchange), exchange), isSmall, resolvers };
        } catch (error) {
          return refused([fail(error, exchange)]);
        }
      },
    };
  }

  const operations: Operations = {
    prepare(exchange, params, isOwn = false) {
      try {
        const prepared = parseAndValidate(exchange, params, isOwn);
        return 'run' in prepared ? prepared : prepared.map((error) => fail(error, exchange));
      } catch (error) {
        return [fail(error, exchange)];
      }
    },
    async run(exchange, params, isOwn) {
      const prepared = operations.prepare(exchange, params, isOwn);
      return 'run' in prepared ? prepared.run(exchange) : refused(prepared);
    },
  };
  return operations;
}
