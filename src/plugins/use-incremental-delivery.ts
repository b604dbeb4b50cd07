// Results in parts for clients that ask for them (`@defer`, `@stream`) and name a media type that carries parts; for all others the same
// operation is answered whole. Errors of later parts are masked like all others.
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream';
import { type DocumentNode, GraphQLError, visit } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { withoutRepetitions } from '../execution/counted-schema.ts';
import type { AnyResult } from '../protocol/answer.ts';
import { chooseForParts } from '../protocol/media-type.ts';
import { taken } from '../protocol/paced-list.ts';

const DIRECTIVES = ['defer', 'stream'];

/** Takes `@defer` and `@stream` out of documents; out of each one once. */
function openWhole(): (document: DocumentNode) => DocumentNode {
  const known = new WeakMap<DocumentNode, DocumentNode>();
  return (document) => {
    const whole =
      known.get(document) ??
      visit(document, { Directive: ({ name }) => (DIRECTIVES.includes(name.value) ? null : undefined) });
    known.set(document, whole);
    return whole;
  };
}

/** @param mask - makes the error that a client sees */
export function useIncrementalDelivery(mask: (error: unknown) => Error): Plugin {
  const wholeOf = openWhole();
  const { onSchemaChange, onValidate } = useDeferStream();

  function shown(error: GraphQLError): GraphQLError {
    const seen = mask(error);
    return seen instanceof GraphQLError ? seen : new GraphQLError(seen.message);
  }

  /** Takes the items away from the executor, whose records hold on to each other until the last item of a list is there. */
  function take(context: object, items: unknown, path: readonly unknown[] | undefined): unknown {
    if (!Array.isArray(items)) return items;
    taken(context, path, items.length);
    return items.splice(0);
  }

  const masked = ({ incremental, ...result }: AnyResult, context: object): AnyResult => ({
    ...result,
    ...(result.errors === undefined ? {} : { errors: withoutRepetitions(result.errors) }),
    ...(incremental === undefined
      ? {}
      : {
          incremental: incremental.map(({ items, ...part }) => ({
            ...part,
            ...(items === undefined ? {} : { items: take(context, items, part.path) }),
            ...(part.errors === undefined ? {} : { errors: withoutRepetitions(part.errors).map(shown) }),
          })),
        }),
  });

  return {
    ...(onSchemaChange === undefined ? {} : { onSchemaChange }),
    ...(onValidate === undefined ? {} : { onValidate }),
    onExecute({ args, context: { request } }) {
      if (chooseForParts(request.headers.get('accept')) === null) args.document = wholeOf(args.document);
      return {
        onExecuteDone: () => ({
          onNext: ({ result, setResult }) => setResult(masked(result, args.contextValue)),
        }),
      };
    },
    // An event is one result: its parts would come out of order with the next event's.
    onSubscribe({ args }) {
      args.document = wholeOf(args.document);
    },
  };
}
