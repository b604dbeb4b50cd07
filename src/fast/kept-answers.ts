// Finished answers kept as bytes for the next time that the same is asked, bounded by their size. It knows neither HTTP nor GraphQL.
import { openRecent } from '../store/recent.ts';

export interface KeptAnswers<T> {
  get(key: string): T | undefined;
  /** @param seconds - for how long it is true */
  set(key: string, answer: T, seconds: number): void;
}

/** No answer is kept that takes more than so much of all. */
const LARGEST_SHARE = 1 / 16;
/** Bytes that an entry takes beside its key and body, about. */
const OVERHEAD = 1024;

/** @param mostBytes - of all answers together; 0 keeps nothing */
export function openKeptAnswers<T extends { readonly body: { readonly byteLength: number } }>(
  mostBytes: number,
  now = () => performance.now(),
): KeptAnswers<T> {
  const recent = openRecent<T>({
    maxBytes: mostBytes,
    largestShare: LARGEST_SHARE,
    sizeOf: ({ body }) => body.byteLength + OVERHEAD,
    now,
  });
  return {
    get: recent.get,
    set: (key, answer, seconds) => recent.set(key, answer, seconds * 1000),
  };
}
