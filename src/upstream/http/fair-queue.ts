// Queue in which callers take turns: first in, first out for the calls of one caller.

export interface FairQueue<T extends { readonly caller: string }> {
  readonly size: number;
  push(item: T): void;
  /**
   * Removes the next item whose caller's turn it is and that `mayStart`; undefined when none may.
   */
  shift(mayStart: (item: T) => boolean): T | undefined;
  /** @returns whether it was waiting */
  remove(item: T): boolean;
  /** Removes the last item of the caller with most; of this caller when no other has more. */
  dropLast(caller: string): T | undefined;
}

export function createFairQueue<T extends { readonly caller: string }>(): FairQueue<T> {
  /** The first caller is asked first, and stands last after its turn. */
  const callers = new Map<string, T[]>();
  let size = 0;

  const removeAt = (items: T[], index: number): T | undefined => {
    const [item] = items.splice(index, 1);
    if (item === undefined) return undefined;
    size -= 1;
    if (items.length === 0) callers.delete(item.caller);
    return item;
  };

  return {
    get size() {
      return size;
    },
    push(item) {
      const items = callers.get(item.caller) ?? [];
      callers.set(item.caller, items);
      items.push(item);
      size += 1;
    },
    shift(mayStart) {
      for (const [caller, items] of callers) {
        const [first] = items;
        if (first === undefined || !mayStart(first)) continue;
        callers.delete(caller);
        callers.set(caller, items);
        return removeAt(items, 0);
      }
      return undefined;
    },
    remove(item) {
      const items = callers.get(item.caller) ?? [];
      const index = items.indexOf(item);
      return index !== -1 && removeAt(items, index) !== undefined;
    },
    dropLast(caller) {
      let longest = callers.get(caller) ?? [];
      for (const items of callers.values()) if (items.length > longest.length) longest = items;
      return removeAt(longest, longest.length - 1);
    },
  };
}
