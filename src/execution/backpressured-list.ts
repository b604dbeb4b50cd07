// Backpressure for streamed lists. The executor completes items as fast as they arrive and would
// hold all of them, with unpacked texts, in memory for a slow client.
import { type GraphQLResolveInfo, getDirectiveValues } from 'graphql';

/** Items that may be on their way between the list and its reader: enough to keep both busy. */
const AHEAD = 8;

/** Running lists of a request by the key of the root field; the function releases more items. */
const requests = new WeakMap<object, Map<string, (count: number) => void>>();

/** How many items the first part of the answer has; undefined where the list is not streamed. */
function initialCount({ schema, fieldNodes, variableValues, path }: GraphQLResolveInfo): number | undefined {
  const directive = schema.getDirective('stream');
  const [node] = fieldNodes;
  if (directive == null || node === undefined || path.prev !== undefined) return undefined;
  const values = getDirectiveValues(directive, node, variableValues);
  return values === undefined || values.if === false ? undefined : Number(values.initialCount);
}

/** Whether the items of a root field are given as they come. */
export const hasStreamDirective = (info: GraphQLResolveInfo): boolean => initialCount(info) !== undefined;

const failed = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const ENDED = { done: true, value: undefined } as const;

/**
 * The items of a streamed root field, each released in its turn, so that only a few are ready and
 * not yet acknowledged ({@link acknowledgeItems}). An iterable, because the executor waits for all
 * items of an array.
 *
 * @param context - the request's
 * @param items - the error of a failed item takes the item's place
 */
export function withBackpressure<T>(
  context: object,
  info: GraphQLResolveInfo,
  items: readonly Promise<T>[],
): AsyncIterable<T> {
  let at = 0;
  let allowed = AHEAD + (initialCount(info) ?? items.length);
  let go: (() => void) | undefined;
  const allow = (count: number): void => {
    allowed += count;
    go?.();
  };
  const lists = requests.get(context) ?? new Map<string, (count: number) => void>();
  requests.set(context, lists.set(String(info.path.key), allow));
  // An item may fail before it is read.
  for (const item of items) item.catch(() => undefined);
  const iterator: AsyncIterator<T, undefined> = {
    async next() {
      if (at >= allowed) await new Promise<void>((resolve) => (go = resolve));
      const item = items[at];
      if (item === undefined) return ENDED;
      at += 1;
      // Executors take an error in place of a value, of which their types do not tell.
      return { done: false, value: (await item.catch(failed)) as T };
    },
    async return() {
      at = items.length;
      go?.();
      return ENDED;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Releases more items after a reader took some. @param path - that of the items in the answer */
export function acknowledgeItems(context: object, path: readonly unknown[] | undefined, count: number): void {
  if (path?.length === 2) requests.get(context)?.get(String(path[0]))?.(count);
}
