// Protein hashes as numbers, for tables that are taken once instead of objects that have to be collected. It knows nothing of proteins.

/** Digits of a hash that make one word, and how many words it has. */
const DIGITS = 8;
export const HASH_WORDS = 4;

/**
 * One of the four 32-bit words of an MD5 written as 32 hexadecimal digits, in either case. Words of hashes are as good as random.
 *
 * @param word - 0 to 3, from the left
 * @returns 0 to 2^32 - 1; some number for a text that is no MD5
 */
export function wordOf(hash: string, word: number): number {
  let value = 0;
  for (let at = word * DIGITS; at < (word + 1) * DIGITS; at += 1) {
    const code = hash.charCodeAt(at);
    // '0' is 0x30, 'A' 0x41 and 'a' 0x61: letters alone have the bit that makes 9 of them.
    value = (value << 4) | ((code & 15) + (code >> 6) * 9);
  }
  return value >>> 0;
}

/** A number that depends on the first and the last word, whose low bits differ for hashes that somebody has counted up, too. */
export const placeOf = (hash: string): number =>
  Math.imul(wordOf(hash, 0), 30) + wordOf(hash, HASH_WORDS - 1);

/** A number that depends on all digits, and is not 0: two hashes in a billion have the same. */
export function tagOf(hash: string): number {
  const [one, two, three, four] = [wordOf(hash, 0), wordOf(hash, 1), wordOf(hash, 2), wordOf(hash, 3)];
  return (
    (Math.imul(one, 0x9e3779b1) ^ Math.imul(two, 0x85ebca77) ^ Math.imul(three, 0xc2b2ae3d) ^ four) >>> 0 || 1
  );
}
