// Tells what comes a second time, of many thousands of proteins, in one table of numbers. A Set of them would have to be copied as it grows and
// kept alive by the collector; it cost more than anything else that is done to keep a list. It knows nothing of proteins.
import { placeOf, tagOf } from './hash-words.ts';

/** Hashes that have a common place; the oldest of them goes first. */
const WAYS = 4;

/**
 * @param most - hashes that are remembered, about: a power of two
 * @returns a function that says whether a hash, as 32 hexadecimal digits, has come before, and remembers it
 */
export function openSeen(most: number): (hash: string) => boolean {
  const tags = new Uint32Array(most);
  const places = most / WAYS - 1;
  return (hash) => {
    const tag = tagOf(hash);
    const first = (placeOf(hash) & places) * WAYS;
    for (let at = first; at < first + WAYS; at += 1) if (tags[at] === tag) return true;
    tags.copyWithin(first + 1, first, first + WAYS - 1);
    tags[first] = tag;
    return false;
  };
}
