// Finds names that are those of settings but for one mistake: a setting that is not read is not missed
// until the protection that it stands for is needed.

/** Whether two texts differ by one letter that is wrong, missing or too many, by two swapped, or by case. */
export function isOneMistakeFrom(text: string, right: string): boolean {
  if (text === right) return false;
  const [a, b] = [text.toUpperCase(), right.toUpperCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [restOfA, restOfB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isSwapped = restOfA.length === 2 && restOfA === `${restOfB[1]}${restOfB[0]}`;
  return isSwapped || (restOfA.length <= 1 && restOfB.length <= 1);
}

/** Shorter names, such as PORT, are too near to those of other programs. */
const SHORTEST = 7;

/**
 * Variables that are probably meant as settings which are not set, one sentence for each.
 *
 * @param given - names of variables that are set
 */
export const misspelt = (given: readonly string[], settings: readonly string[]): string[] =>
  given.flatMap((name) => {
    const meant = settings.find((setting) => setting.length >= SHORTEST && isOneMistakeFrom(name, setting));
    return settings.includes(name) || meant === undefined || given.includes(meant)
      ? []
      : [`${name}: there is no such setting, so it has no effect; ${meant} is meant, or unset it`];
  });
