// A fair queue: callers take turns, and so do the requests of one caller, so that no caller waits
// behind all calls of another.

interface Lane<T> {
  size: number;
  /** Items by request, the request whose turn it is first. */
  readonly requests: Map<string, T[]>;
}

/** The first key is whose turn it is; behind the others again once it was served. */
function rotate<V>(ring: Map<string, V>, key: string, value: V, empty: boolean): void {
  ring.delete(key);
  if (!empty) ring.set(key, value);
}

/** An empty queue. */
export function fairQueue<T>() {
  const lanes = new Map<string, Lane<T>>();
  let size = 0;

  const take = (caller: string, lane: Lane<T>): void => {
    size -= 1;
    lane.size -= 1;
    if (lane.size === 0) lanes.delete(caller);
  };

  return {
    get size() {
      return size;
    },
    /** Puts an item behind the others of its caller's request. */
    push(caller: string, request: string, item: T) {
      const lane: Lane<T> = lanes.get(caller) ?? { size: 0, requests: new Map<string, T[]>() };
      lanes.set(caller, lane);
      const items = lane.requests.get(request) ?? [];
      lane.requests.set(request, items);
      items.push(item);
      lane.size += 1;
      size += 1;
    },
    /** Takes the item whose turn it is. */
    shift(): T | undefined {
      for (const [caller, lane] of lanes) {
        for (const [request, items] of lane.requests) {
          const item = items.shift();
          rotate(lane.requests, request, items, items.length === 0);
          rotate(lanes, caller, lane, false);
          take(caller, lane);
          return item;
        }
      }
      return undefined;
    },
    /** Takes out an item that does not want to wait any longer. @returns whether it was waiting */
    remove(caller: string, request: string, item: T): boolean {
      const lane = lanes.get(caller);
      const items = lane?.requests.get(request);
      const at = items?.indexOf(item) ?? -1;
      if (lane === undefined || items === undefined || at === -1) return false;
      items.splice(at, 1);
      if (items.length === 0) lane.requests.delete(request);
      take(caller, lane);
      return true;
    },
    /**
     * Removes the last item of the longest queue of a caller; of this caller's when none is longer.
     */
    dropLast(caller: string): T | undefined {
      let longest = caller;
      for (const [other, { size: waiting }] of lanes) {
        if (waiting > (lanes.get(longest)?.size ?? 0)) longest = other;
      }
      const lane = lanes.get(longest);
      let fullest: [string, T[]] | undefined;
      for (const one of lane?.requests ?? []) {
        if (fullest === undefined || one[1].length >= fullest[1].length) fullest = one;
      }
      if (lane === undefined || fullest === undefined) return undefined;
      const [request, items] = fullest;
      const item = items.pop();
      if (items.length === 0) lane.requests.delete(request);
      take(longest, lane);
      return item;
    },
  };
}
