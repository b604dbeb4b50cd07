// No regular expression of the gateway takes more than linear time, whatever it is given.
import { expect, it } from 'vitest';
import { startCpuTimer } from '../cpu-time.ts';
import { hostileTexts, readPatterns } from './patterns.ts';

/** A pattern that looks at each of these characters once takes well under a millisecond; one that goes back each time, some fifty of them. */
const CHARACTERS = 10_000;
const MAX_MS = 2.5;

function run(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) text.replace(pattern, '');
  else pattern.exec(text);
}

function milliseconds(pattern: RegExp, text: string): number {
  const spent = startCpuTimer();
  run(pattern, text);
  return spent();
}

/** Whether the clock of the machine, which costs little to read, shows less: then it was no more work. */
function isQuick(pattern: RegExp, text: string): boolean {
  const at = performance.now();
  run(pattern, text);
  return performance.now() - at <= MAX_MS;
}

/** Several times in a row: a collection of garbage is not the pattern's. */
const isSlow = (pattern: RegExp, text: string): boolean =>
  !isQuick(pattern, text) && [1, 2, 3, 4].every(() => milliseconds(pattern, text) > MAX_MS);

const { patterns, unread } = readPatterns();

it('reads every text in linear time with every regular expression of the source', () => {
  expect(patterns.length).toBeGreaterThan(80);
  const slow = patterns.flatMap(({ place, pattern }) => {
    for (const text of hostileTexts(pattern, CHARACTERS)) {
      if (isSlow(pattern, text))
        return [`${place} ${pattern} is slow on ${JSON.stringify(text.slice(0, 40))}`];
    }
    return [];
  });
  expect(slow).toEqual([]);
});

it('makes no regular expression at run time', () => {
  expect(unread).toEqual([]);
});

it.each([
  /[^\s]*\?[^\s]*=[^\s]*/g,
  /\s+$/,
  /<script[^>]*>/g,
  /"[^"\\]*(?:\\.[^"\\]*)*"/g,
  / Did you mean [^?]*\?/g,
])('would notice %s', (pattern) => {
  let isFound = false;
  for (const text of hostileTexts(pattern, CHARACTERS)) {
    isFound = isSlow(pattern, text);
    if (isFound) break;
  }
  expect(isFound).toBe(true);
});
