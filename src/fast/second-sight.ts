// Tells what comes a second time from what comes once. Most different questions are asked once, and whatever is kept of them costs the
// garbage collector more than it saves. It remembers a number for each, in a table that never grows.

/** Numbers that are remembered; a later one takes the place of an earlier one. */
const PLACES = 65_536;

/** FNV-1a over the characters. */
function numberOf(key: string): number {
  let number = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) number = Math.imul(number ^ key.charCodeAt(i), 0x01000193);
  return number;
}

/** @returns a function that says whether a key came before, as far as it remembers; now and then it takes one for another */
export function openSecondSight(): (key: string) => boolean {
  const seen = new Int32Array(PLACES);
  return (key) => {
    const number = numberOf(key) | 1;
    const place = (number >>> 1) & (PLACES - 1);
    if (seen[place] === number) return true;
    seen[place] = number;
    return false;
  };
}
