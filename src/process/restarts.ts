// How soon a process that died is replaced: at once at first, ever later when they keep dying young, and not at all in the end.
// Pure; it starts nothing.

/** A life that is long enough for its end to be no sign of worse. Milliseconds. */
const LONG_LIFE_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** Early deaths in a row after which nothing is gained by another start. */
const MOST_DEATHS = 8;

/** @returns told how long a process lived, says after how many milliseconds to start another; undefined: do not */
export function openRestarts(): (livedMilliseconds: number) => number | undefined {
  let deaths = 0;
  return (lived) => {
    deaths = lived >= LONG_LIFE_MS ? 1 : deaths + 1;
    if (deaths > MOST_DEATHS) return undefined;
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (deaths - 1));
  };
}
