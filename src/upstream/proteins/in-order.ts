// Emits the hashes of a list in list order while they settle in any order.

/**
 * Gives hashes to `give` as soon as none before them in the list is open.
 *
 * @param open - the hashes that are not settled yet
 * @returns a function to call with each hash that is settled
 */
export function inOrder(
  hashes: readonly string[],
  open: Set<string>,
  give: (some: readonly string[]) => void,
): (hash: string) => void {
  let at = 0;
  let isDue = false;
  const go = (): void => {
    isDue = false;
    const from = at;
    while (at < hashes.length && !open.has(hashes[at] ?? '')) at += 1;
    if (at > from) give(hashes.slice(from, at));
  };
  return (hash) => {
    open.delete(hash);
    // An archive brings several in one turn.
    if (!isDue) queueMicrotask(go);
    isDue = true;
  };
}
