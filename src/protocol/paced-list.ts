// A streamed list at the pace of its reader. The executor completes the items of a list as fast as they come, and would hold all of
// them, texts unpacked, for a client that takes them slowly. It knows neither the items nor how they are written.
import { type GraphQLResolveInfo, getDirectiveValues } from 'graphql';

/** Items that may be on their way between the list and its reader: enough to keep both busy. */
const AHEAD = 8;

/** What waits for its turn, of one request's lists, by the key of the root field. */
const requests = new WeakMap<object, Map<string, (() => void)[]>>();

/** How many items the first part of the answer has; undefined where the list is not streamed. */
function initialCount({ schema, fieldNodes, variableValues, path }: GraphQLResolveInfo): number | undefined {
  const directive = schema.getDirective('stream');
  const [node] = fieldNodes;
  if (directive == null || node === undefined || path.prev !== undefined) return undefined;
  const values = getDirectiveValues(directive, node, variableValues);
  return values === undefined || values.if === false ? undefined : Number(values.initialCount);
}

/** Whether the items of a root field are given as they come. */
export const isStreamed = (info: GraphQLResolveInfo): boolean => initialCount(info) !== undefined;

/**
 * The items of a root field: as they are, or where they are streamed (`@stream`) each when its turn comes, so that no more than a
 * few are ready and not yet {@link taken}.
 *
 * @param context - the request's
 */
export function pacedList<T>(
  context: object,
  info: GraphQLResolveInfo,
  items: readonly Promise<T>[],
): readonly Promise<T>[] {
  const first = initialCount(info);
  if (first === undefined) return items;
  const waiting: (() => void)[] = [];
  const lists = requests.get(context) ?? new Map<string, (() => void)[]>();
  requests.set(context, lists.set(String(info.path.key), waiting));
  return items.map((item, at) => {
    if (at < first + AHEAD) return item;
    // It may fail before anybody looks.
    item.catch(() => undefined);
    return new Promise<void>((resolve) => waiting.push(resolve)).then(() => item);
  });
}

/** Says that a reader has taken items of a list, so that as many others may come. @param path - that of the items in the answer */
export function taken(context: object, path: readonly unknown[] | undefined, count: number): void {
  const waiting = path?.length === 2 ? requests.get(context)?.get(String(path[0])) : undefined;
  for (const go of waiting?.splice(0, count) ?? []) go();
}
