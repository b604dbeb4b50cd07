// Values kept in memory, bounded by what they take. Two generations instead of an order of use: a hit costs one look-up, and whatever is
// not asked for while the young one fills up goes with the old one. Everything is at once and by reference; it does not know what it holds.

export interface Recent<T> {
  get(key: string): T | undefined;
  /** @param milliseconds - for how long it is kept at most */
  set(key: string, value: T, milliseconds: number): void;
}

interface Entry<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly bytes: number;
}

/** What an entry takes beside its key and value, about. */
const OVERHEAD = 200;

/**
 * Opens a place for values.
 *
 * @param maxBytes - of both generations together; what is larger than half of it is not kept
 * @param sizeOf - roughly the bytes that a value takes
 */
export function openRecent<T>(maxBytes: number, sizeOf: (value: T) => number): Recent<T> {
  let young = new Map<string, Entry<T>>();
  let old = new Map<string, Entry<T>>();
  let youngBytes = 0;

  function keep(key: string, entry: Entry<T>): void {
    if (youngBytes + entry.bytes > maxBytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    young.set(key, entry);
    youngBytes += entry.bytes;
  }

  /** Takes an entry out of the young generation. One of the same key in the old one is older, and seen by nobody while there is a younger. */
  function dropYoung(key: string): void {
    const entry = young.get(key);
    if (entry === undefined) return;
    youngBytes -= entry.bytes;
    young.delete(key);
  }

  return {
    get(key) {
      const entry = young.get(key);
      const found = entry ?? old.get(key);
      if (found === undefined) return undefined;
      if (found.until <= Date.now()) {
        dropYoung(key);
        old.delete(key);
        return undefined;
      }
      if (entry === undefined) {
        old.delete(key);
        keep(key, found);
      }
      return found.value;
    },
    set(key, value, milliseconds) {
      const bytes = OVERHEAD + key.length + sizeOf(value);
      dropYoung(key);
      if (milliseconds > 0 && bytes <= maxBytes / 2)
        keep(key, { value, until: Date.now() + milliseconds, bytes });
      // What is not kept must not be answered from what stood there before.
      else old.delete(key);
    },
  };
}
