// Values kept in memory, bounded by what they take. Two generations instead of an order of use: a hit costs one look-up, and whatever is
// not asked for while the young one fills up goes with the old one. Everything is at once and by reference; it does not know what it holds.

export interface Recent<T> {
  get(key: string): T | undefined;
  /** @param milliseconds - for how long it is kept at most */
  set(key: string, value: T, milliseconds: number): void;
}

interface Entry<T> {
  readonly value: T;
  /** On the clock of the options. */
  readonly until: number;
  readonly bytes: number;
}

export interface RecentOptions<T> {
  /** Of both generations together. */
  readonly maxBytes: number;
  /** The part of them that one value may take at most. */
  readonly largestShare: number;
  /** Roughly the bytes that a value takes, with all that is kept for its sake but the key. */
  readonly sizeOf: (value: T) => number;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Opens a place for values. */
export function openRecent<T>({ maxBytes, largestShare, sizeOf, now }: RecentOptions<T>): Recent<T> {
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
      if (found.until <= now()) {
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
      const bytes = key.length + sizeOf(value);
      dropYoung(key);
      if (milliseconds > 0 && bytes <= maxBytes * largestShare)
        keep(key, { value, until: now() + milliseconds, bytes });
      // What is not kept must not be answered from what stood there before.
      else old.delete(key);
    },
  };
}
