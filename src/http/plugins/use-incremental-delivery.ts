// Delivers results in parts (`@defer`, `@stream`) to clients that accept a media type with parts;
// other clients receive the whole result.
import { GraphQLStreamDirective, memoize1 } from '@graphql-tools/utils';
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream';
import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { negotiateIncrementalType } from '../graphql/media-type.ts';

const DIRECTIVES = ['defer', 'stream'];

/** Takes `@defer` and `@stream` out of a document, once. */
const wholeOf = memoize1(
  (document: DocumentNode): DocumentNode =>
    visit(document, { Directive: ({ name }) => (DIRECTIVES.includes(name.value) ? null : undefined) }),
);

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Errors for a `@stream` with an invalid initialCount, which the executor would mask as internal.
 */
function streamErrors({ schema, document, operationName, variableValues }: Operation): GraphQLError[] {
  const streams: DirectiveNode[] = [];
  visit(document, {
    Directive(node) {
      if (node.name.value === 'stream') streams.push(node);
    },
  });
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  if (streams.length === 0) return [];
  const { coerced } = getVariableValues(schema, definitions, { ...variableValues });
  // Variables that cannot be read are the executor's to refuse.
  if (coerced === undefined) return [];
  return streams.flatMap((node) => {
    const { initialCount } = getArgumentValues(GraphQLStreamDirective, node, coerced);
    return typeof initialCount === 'number' && initialCount >= 0
      ? []
      : new GraphQLError('`initialCount` of @stream is the size of the first part: 0 or more.', {
          nodes: node,
          extensions: { code: 'BAD_USER_INPUT', retryable: false },
        });
  });
}

export function useIncrementalDelivery(): Plugin {
  const { onSchemaChange, onValidate } = useDeferStream();
  return {
    ...(onSchemaChange === undefined ? {} : { onSchemaChange }),
    ...(onValidate === undefined ? {} : { onValidate }),
    onExecute({ args, context: { request }, setResultAndStopExecution }) {
      if (negotiateIncrementalType(request.headers.get('accept')) === null)
        args.document = wholeOf(args.document);
      else {
        const errors = streamErrors(args);
        if (errors.length > 0) setResultAndStopExecution({ errors });
      }
    },
    // An event is one result: its parts would come out of order with the next event's.
    onSubscribe({ args }) {
      args.document = wholeOf(args.document);
    },
  };
}
