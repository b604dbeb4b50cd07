// Remembers which documents that have run are plain queries: one operation, answered in one piece, or as one list in parts. They need not be
// looked at again when they come the next time. It knows no field.
import { GraphQLStreamDirective } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type GraphQLSchema,
  getDirectiveValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import { type CachePolicy, cachePolicy } from '../http/response-cache/cache-policy.ts';
import { openTextCache } from './document-cache.ts';

/** How a list is given in parts. */
export interface Streamed {
  /** Items of the first part. */
  readonly initialCount: number;
  readonly label: string | undefined;
}

/** What is known of a plain query. */
export interface PlainQuery {
  readonly secondsFor: CachePolicy;
  /** Of the operation; null for one without. */
  readonly name: string | null;
  /** How its only list is given to who takes parts; undefined where there are none. */
  readonly streamed: Streamed | undefined;
  /** As it was parsed, checked and run. */
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
}

/** Plain queries by their text. */
export type PlainQueries = ReturnType<typeof openTextCache<PlainQuery>>;

export const openPlainQueries = (): PlainQueries => openTextCache<PlainQuery>();

const PARTS = ['defer', 'stream'];

/** How the only field of a query is streamed; undefined where it is not, or where variables decide. */
function streamedOf({ selectionSet: { selections } }: OperationDefinitionNode): Streamed | undefined {
  const [only] = selections;
  if (selections.length !== 1 || only?.kind !== Kind.FIELD) return undefined;
  const stream = only.directives?.find(({ name }) => name.value === GraphQLStreamDirective.name);
  if (stream?.arguments?.some(({ value }) => value.kind === Kind.VARIABLE) !== false) return undefined;
  const { if: isOn, initialCount, label } = getDirectiveValues(GraphQLStreamDirective, only) ?? {};
  if (isOn === false || typeof initialCount !== 'number' || initialCount < 0) return undefined;
  return { initialCount, label: typeof label === 'string' ? label : undefined };
}

/** The only operation of a document; undefined for anything but one query that is answered in one piece, or as one list in parts. */
function plainOf(document: DocumentNode): Pick<PlainQuery, 'name' | 'streamed'> | undefined {
  const operations = document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION ? [node] : [],
  );
  const [only] = operations;
  if (operations.length !== 1 || only?.operation !== 'query') return undefined;
  let apart = 0;
  let isPlain = true;
  visit(document, {
    Directive({ name }) {
      if (PARTS.includes(name.value)) apart += 1;
    },
    // No member of an object has that name without harm.
    Field({ alias }) {
      if (alias?.value === '__proto__') isPlain = false;
    },
  });
  const streamed = apart === 1 ? streamedOf(only) : undefined;
  if (!isPlain || (apart > 0 && streamed === undefined)) return undefined;
  return { name: only.name?.value ?? null, streamed };
}

/** @param recordSeconds - how long the gateway keeps records */
export const usePlainQueries = (
  queries: PlainQueries,
  recordSeconds: number,
): Plugin<YogaInitialContext> => ({
  onExecute({ args, context }) {
    const text = context.params?.query;
    if (text == null || queries.get(text) !== undefined) return;
    const plain = plainOf(args.document);
    if (plain === undefined) return;
    const { schema, document } = args;
    queries.set(text, {
      ...plain,
      document,
      schema,
      secondsFor: cachePolicy(schema, document, recordSeconds),
    });
  },
});
