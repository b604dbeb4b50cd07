// Tells what comes a second time, of many thousands of proteins. It knows nothing of them.
import { HashTable } from './hash-table.ts';

/**
 * @param most - hashes that are remembered, about
 * @returns a function that says whether a hash, as 32 hexadecimal digits, has come before, and remembers it
 */
export function openSeen(most: number): (hash: string) => boolean {
  const table = new HashTable(most);
  return (hash) => {
    const isSeen = table.get(hash) !== 0;
    if (!isSeen) table.set(hash, 1);
    return isSeen;
  };
}
