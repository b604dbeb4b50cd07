// Numbers under protein hashes, in a table that is taken once: a Map of many thousands has to be copied as it grows and kept alive by the collector,
// which costs more than what it is asked. It knows nothing of proteins, nor of what the numbers say.
import { placeOf, tagOf } from './hash-words.ts';

/** Hashes that have a common place; the oldest of them goes first. */
const WAYS = 8;

/** Two hashes in a billion are taken for one: whom that would harm has to make sure. */
export class HashTable {
  private readonly tags: Uint32Array;
  private readonly numbers: Float64Array;
  private readonly places: number;

  /** @param usual - hashes that it should hold; hardly any of so many is lost, and of four times as many there are the latest */
  constructor(usual: number) {
    this.places = 2 ** Math.max(0, Math.ceil(Math.log2(usual / 2)));
    this.tags = new Uint32Array(this.places * WAYS);
    this.numbers = new Float64Array(this.places * WAYS);
  }
  /** @returns the number of a hash, as 32 hexadecimal digits; 0 where it has none */
  get(hash: string): number {
    const at = this.find(this.firstOf(hash), tagOf(hash));
    return at === -1 ? 0 : (this.numbers[at] ?? 0);
  }
  /** @param number - other than 0 */
  set(hash: string, number: number): void {
    const first = this.firstOf(hash);
    const tag = tagOf(hash);
    const known = this.find(first, tag);
    const end = known === -1 ? first + WAYS - 1 : known;
    this.tags.copyWithin(first + 1, first, end);
    this.numbers.copyWithin(first + 1, first, end);
    this.tags[first] = tag;
    this.numbers[first] = number;
  }
  delete(hash: string): void {
    const at = this.find(this.firstOf(hash), tagOf(hash));
    if (at !== -1) this.numbers[at] = 0;
  }
  private firstOf(hash: string): number {
    return (placeOf(hash) & (this.places - 1)) * WAYS;
  }
  private find(first: number, tag: number): number {
    for (let at = first; at < first + WAYS; at += 1)
      if (this.tags[at] === tag && this.numbers[at] !== 0) return at;
    return -1;
  }
}
