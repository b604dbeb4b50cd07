// `@defer` and `@stream`, for clients that accept a response in parts. Yoga's executor knows them;
// all other operations are executed by graphql-js, which reads variables in half of the time.
import { GraphQLStreamDirective, memoize1 } from '@graphql-tools/utils';
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream';
import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutionArgs,
  execute,
  GraphQLError,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  OverlappingFieldsCanBeMergedRule,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { negotiateIncrementalType } from '../media-type.ts';
import type { OperationPlugin } from '../operation-context.ts';
import { MAX_VARIABLE_ERRORS } from './use-execution.ts';

const useDirectives: Plugin = useDeferStream();

const useOneMergeRule: Plugin = {
  // useDeferStream adds a rule in place of this one, and only seems to take it out.
  onValidate({ params: { rules = [] } }) {
    const index = rules.indexOf(OverlappingFieldsCanBeMergedRule);
    if (index >= 0) rules.splice(index, 1);
  },
};

const useAcceptedParts: OperationPlugin = {
  onExecute({ args, context: { exchange }, setExecuteFn, setResultAndStopExecution }) {
    if (findParts(args.document).length === 0) return setExecuteFn(execute);
    if (negotiateIncrementalType(exchange.headers.accept ?? null) === null) {
      args.document = withoutParts(args.document);
      return setExecuteFn(execute);
    }
    const errors = findErrors(args);
    if (errors.length > 0) setResultAndStopExecution({ errors });
  },
  // An event is one result: its parts would come out of order with the next event's.
  onSubscribe({ args }) {
    args.document = withoutParts(args.document);
  },
};

export const incrementalDelivery = (): (OperationPlugin | Plugin)[] => [
  useOneMergeRule,
  useDirectives,
  useAcceptedParts,
];

const isPart = ({ name }: DirectiveNode): boolean => name.value === 'defer' || name.value === 'stream';

/** The document without `@defer` and `@stream`. */
const withoutParts = memoize1(
  (document: DocumentNode): DocumentNode =>
    visit(document, { Directive: (node) => (isPart(node) ? null : undefined) }),
);

const findParts = memoize1((document: DocumentNode): readonly DirectiveNode[] => {
  const parts: DirectiveNode[] = [];
  visit(document, {
    Directive(node) {
      if (isPart(node)) parts.push(node);
    },
  });
  return parts;
});

/**
 * Errors of variables, of which the executor writes down fifty, and of an `initialCount` below 0,
 * which it throws as its own.
 */
function findErrors({
  schema,
  document,
  operationName,
  variableValues,
}: ExecutionArgs): readonly GraphQLError[] {
  const streams = findParts(document).filter(({ name }) => name.value === 'stream');
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  const options = { maxErrors: MAX_VARIABLE_ERRORS };
  const { coerced, errors } = getVariableValues(schema, definitions, { ...variableValues }, options);
  if (errors !== undefined) return errors;
  return streams.flatMap((node) => {
    const { initialCount } = getArgumentValues(GraphQLStreamDirective, node, coerced);
    if (typeof initialCount === 'number' && initialCount >= 0) return [];
    const extensions = { code: 'BAD_USER_INPUT', retryable: false };
    const message = '`initialCount` of @stream is the size of the first part: 0 or more.';
    return new GraphQLError(message, { nodes: node, extensions });
  });
}
