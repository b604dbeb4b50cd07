// The way back from a hash to the number of its protein: hashes are made in order, as far as
// needed, and found in a table of 8 bytes a place, because a run asks for millions.

const toKey = (hash: string): number => Number.parseInt(hash.slice(0, 8), 16);

/**
 * @param ahead - how many hashes are made before one counts as unknown: numbers come nearly in
 * order
 * @returns a function that gives the number of a hash, undefined for one that is none of the next
 * proteins'
 */
export function openNumbers(
  toHash: (n: number) => string,
  ahead = 1 << 17,
): (hash: string) => number | undefined {
  let keys = new Uint32Array(1 << 16);
  /** The number and one; 0 where there is none. */
  let numbers = new Uint32Array(keys.length);
  let made = 0;
  /** The number behind the highest that was asked for. */
  let asked = 0;

  function place(key: number, number: number): void {
    const mask = keys.length - 1;
    let at = key & mask;
    while (numbers[at] !== 0) at = (at + 1) & mask;
    keys[at] = key;
    numbers[at] = number;
  }

  function grow(): void {
    const [oldKeys, oldNumbers] = [keys, numbers];
    keys = new Uint32Array(oldKeys.length * 2);
    numbers = new Uint32Array(keys.length);
    for (const [at, number] of oldNumbers.entries()) if (number !== 0) place(oldKeys[at] ?? 0, number);
  }

  function find(hash: string): number | undefined {
    const key = toKey(hash);
    const mask = keys.length - 1;
    for (let at = key & mask; ; at = (at + 1) & mask) {
      const number = numbers[at] ?? 0;
      if (number === 0) return undefined;
      if (keys[at] === key && toHash(number - 1) === hash) return number - 1;
    }
  }

  /** Makes hashes until it is this one. */
  function make(hash: string): number | undefined {
    while (made < asked + ahead) {
      const next = toHash(made);
      made += 1;
      if (made * 2 > keys.length) grow();
      place(toKey(next), made);
      if (next === hash) return made - 1;
    }
    return undefined;
  }

  return (hash) => {
    const number = find(hash) ?? make(hash);
    if (number !== undefined) asked = Math.max(asked, number + 1);
    return number;
  };
}
