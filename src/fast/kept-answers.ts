// Finished answers kept as bytes for the next time that the same is asked, bounded by their size. Two generations instead of an order of
// use: a hit costs one look-up, and whatever is not asked for while the young one fills up goes with the old one. It knows neither HTTP
// nor GraphQL.

export interface KeptAnswers<T> {
  get(key: string): T | undefined;
  /** @param seconds - for how long it is true */
  set(key: string, answer: T, seconds: number): void;
}

interface Entry<T> {
  readonly answer: T;
  /** On the clock of `performance.now()`. */
  readonly until: number;
  readonly bytes: number;
}

/** No answer is kept that takes more than so much of all. */
const LARGEST_SHARE = 1 / 16;
/** Bytes that an entry takes beside its key and body, about. */
const OVERHEAD = 1024;

/** @param mostBytes - of both generations together; 0 keeps nothing */
export function openKeptAnswers<T extends { readonly body: { readonly byteLength: number } }>(
  mostBytes: number,
  now = () => performance.now(),
): KeptAnswers<T> {
  let young = new Map<string, Entry<T>>();
  let old = new Map<string, Entry<T>>();
  let youngBytes = 0;

  function keep(key: string, entry: Entry<T>): void {
    if (youngBytes + entry.bytes > mostBytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    young.set(key, entry);
    youngBytes += entry.bytes;
  }

  function drop(key: string): void {
    youngBytes -= young.get(key)?.bytes ?? 0;
    young.delete(key);
    old.delete(key);
  }

  return {
    get(key) {
      const entry = young.get(key) ?? old.get(key);
      if (entry === undefined) return undefined;
      if (entry.until <= now()) {
        drop(key);
        return undefined;
      }
      if (old.delete(key)) keep(key, entry);
      return entry.answer;
    },
    set(key, answer, seconds) {
      // Whatever stood here is older.
      drop(key);
      const bytes = key.length + answer.body.byteLength + OVERHEAD;
      if (seconds > 0 && bytes <= mostBytes * LARGEST_SHARE)
        keep(key, { answer, until: now() + seconds * 1000, bytes });
    },
  };
}
