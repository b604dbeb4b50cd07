// A streamed list at the pace of its reader. The executor completes the items of a list as fast as they come, and would hold all of
// them, texts unpacked, for a client that takes them slowly. It knows neither the items nor how they are written.
import { type GraphQLResolveInfo, getDirectiveValues } from 'graphql';

/** Items that may be on their way between the list and its reader: enough to keep both busy. */
const AHEAD = 8;

/** Lists under way, of one request, by the key of the root field: each is told how many more may come. */
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
 * The items of a root field that is streamed, each when its turn comes, so that no more than a few are ready and not yet {@link acknowledgeItems}. As an
 * iterable, not as a list: of a list the executor waits for all items at once, each time that one of them comes.
 *
 * @param context - the request's
 * @param items - an item that fails is given as its error, which fails in its place
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
  // It may fail before anybody looks.
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

/** Says that a reader has taken items of a list, so that as many others may come. @param path - that of the items in the answer */
export function acknowledgeItems(context: object, path: readonly unknown[] | undefined, count: number): void {
  if (path?.length === 2) requests.get(context)?.get(String(path[0]))?.(count);
}
