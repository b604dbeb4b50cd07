// Remembers which documents that have run are plain queries: one operation, answered in one piece. They need not be looked at again when
// they come the next time. It knows no field.
import { type DocumentNode, type GraphQLSchema, Kind, visit } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import { type CachePolicy, cachePolicy } from './cache-policy.ts';
import { openTextCache } from './document-cache.ts';

/** What is known of a plain query. */
export interface PlainQuery extends CachePolicy {
  /** Of the operation; null for one without. */
  readonly name: string | null;
  /** As it was parsed, checked and run. */
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
}

/** Plain queries by their text. */
export type PlainQueries = ReturnType<typeof openTextCache<PlainQuery>>;

export const openPlainQueries = (): PlainQueries => openTextCache<PlainQuery>();

const PARTS = ['defer', 'stream'];

/** The name of the only operation; undefined for anything but one query that is answered in one piece. */
function nameOf(document: DocumentNode): string | null | undefined {
  const operations = document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION ? [node] : [],
  );
  const [only] = operations;
  if (operations.length !== 1 || only?.operation !== 'query') return undefined;
  let isPlain = true;
  visit(document, {
    Directive({ name }) {
      if (PARTS.includes(name.value)) isPlain = false;
    },
    // No member of an object has that name without harm.
    Field({ alias }) {
      if (alias?.value === '__proto__') isPlain = false;
    },
  });
  return isPlain ? (only.name?.value ?? null) : undefined;
}

/** @param recordSeconds - how long the gateway keeps records */
export const usePlainQueries = (
  queries: PlainQueries,
  recordSeconds: number,
): Plugin<YogaInitialContext> => ({
  onExecute({ args, context }) {
    const text = context.params?.query;
    if (text == null || queries.get(text) !== undefined) return;
    const name = nameOf(args.document);
    if (name === undefined) return;
    const { schema, document } = args;
    queries.set(text, { name, document, schema, ...cachePolicy(schema, document, recordSeconds) });
  },
});
