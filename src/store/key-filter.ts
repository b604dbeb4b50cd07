// A Bloom filter of texts: what was never added is told from what was without looking it up, nearly always. It knows nothing of what the texts
// name.

/** Bits, as a power of two: two mebibytes, of which only what is used is taken. */
const BITS = 2 ** 24;
/** Of each key. */
const MARKS = 3;

export class KeyFilter {
  /** Keys that were added, some of them more than once. */
  added = 0;
  private readonly words = new Uint32Array(BITS / 32);

  add(key: string): void {
    this.added += 1;
    const hash = hashOf(key);
    const step = mixed(hash) | 1;
    for (let n = 0, bit = hash; n < MARKS; n += 1, bit += step) {
      const at = bit & (BITS - 1);
      this.words[at >>> 5] = (this.words[at >>> 5] ?? 0) | (1 << (at & 31));
    }
  }
  /** False only for what was not added; of a million keys that were, one in two hundred others is taken for one of them. */
  mayHave(key: string): boolean {
    const hash = hashOf(key);
    const step = mixed(hash) | 1;
    for (let n = 0, bit = hash; n < MARKS; n += 1, bit += step) {
      const at = bit & (BITS - 1);
      if (((this.words[at >>> 5] ?? 0) & (1 << (at & 31))) === 0) return false;
    }
    return true;
  }
}

/** FNV-1a over the letters, mixed once more. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** Makes every bit depend on every other, as MurmurHash ends. */
function mixed(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
