// A fair queue: callers take turns, and so do the requests of one caller, so that no caller waits
// behind all calls of another.

/** An empty queue. */
export function fairQueue<T>() {
  /** Items by caller and request; of each map the first has its turn, and stands last after it. */
  const callers = new Map<string, Map<string, T[]>>();
  let size = 0;

  /** Takes out one item; a request and a caller without any more are forgotten. */
  const take = (caller: string, request: string, at: number): T | undefined => {
    const requests = callers.get(caller);
    const items = requests?.get(request);
    const item = items?.splice(at, 1)[0];
    if (items?.length === 0) requests?.delete(request);
    if (requests?.size === 0) callers.delete(caller);
    size -= 1;
    return item;
  };

  return {
    get size() {
      return size;
    },
    /** Puts an item behind the others of its caller's request. */
    push(caller: string, request: string, item: T) {
      const requests = callers.get(caller) ?? new Map<string, T[]>();
      const items = requests.get(request) ?? [];
      callers.set(caller, requests.set(request, items));
      items.push(item);
      size += 1;
    },
    /** Takes the item whose turn it is. */
    shift(): T | undefined {
      for (const [caller, requests] of callers) {
        for (const [request, items] of requests) {
          callers.delete(caller);
          callers.set(caller, requests);
          requests.delete(request);
          requests.set(request, items);
          return take(caller, request, 0);
        }
      }
      return undefined;
    },
    /** Takes out an item that does not want to wait any longer. @returns whether it was waiting */
    remove(caller: string, request: string, item: T): boolean {
      const at = callers.get(caller)?.get(request)?.indexOf(item) ?? -1;
      if (at !== -1) take(caller, request, at);
      return at !== -1;
    },
    /**
     * Removes the last item of the longest queue of a caller; of this caller's when none is longer.
     */
    dropLast(caller: string): T | undefined {
      const lengthOf = (name: string): number =>
        [...(callers.get(name)?.values() ?? [])].reduce((sum, items) => sum + items.length, 0);
      let longest = { name: caller, length: lengthOf(caller) };
      for (const name of callers.keys())
        if (lengthOf(name) > longest.length) longest = { name, length: lengthOf(name) };
      const requests = [...(callers.get(longest.name) ?? [])];
      const most = Math.max(...requests.map(([, items]) => items.length));
      const fullest = requests.findLast(([, items]) => items.length === most);
      return fullest && take(longest.name, fullest[0], most - 1);
    },
  };
}
