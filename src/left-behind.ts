// Keeps small what requests leave behind: the young generation as large as it is needed and no larger, and what has not died young collected
// when it has piled up. It must not know what it was.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes outside of the heap by which what is there may have grown since it was least, before V8 is asked to look through all of it. */
const GROWN = 8 * 1024 ** 2;
/** As many as V8 takes notice of, and more than the system's allocator would keep for later. */
const NOTICED = 64 * 1024 ** 2;

/** Percent of what is alive by which the heap may grow, with what its objects hold outside of it, until V8 looks through all of it. */
const GROWTH = 90;

let least = Number.POSITIVE_INFINITY;

/**
 * Has V8 keep to one measure. Its own goes down as it collects, to 30 percent, which a single archive takes up: collecting in the middle of an
 * answer lets what is there of its archive grow old, which is reason enough to collect again in the next, and so on for as long as they come.
 */
const growEvenly = (): void => setFlagsFromString(`--heap-growing-percent=${GROWTH}`);

/**
 * Has V8 begin a full collection, in steps and beside other work, where bytes outside of the heap have piled up. What large answers leave
 * behind are small objects that hold much: some of them grow old, and left to itself V8 looks for them when they hold 64 MB.
 */
export function collectPile(): void {
  growEvenly();
  const { arrayBuffers } = process.memoryUsage();
  least = Math.min(least, arrayBuffers);
  if (arrayBuffers - least < GROWN) return;
  least = arrayBuffers;
  try {
    // Memory that is never written to is none; but V8 counts it, and begins.
    new ArrayBuffer(NOTICED);
  } catch {
    // Where there is no room for it V8 has just tried to make some.
  }
}

/** Bytes of a half of the young generation below which it is too small for large answers, and by how many times. */
const TOO_SMALL: readonly (readonly [number, number])[] = [
  [2_200_000, 4],
  [4_400_000, 2],
];
/** Bytes of a half that are enough for everything. */
const ENOUGH = 15_000_000;
/** Milliseconds after a large answer for which the next is expected. */
const SOON = 2000;
/** Milliseconds between two looks at how large it has become. */
const LOOK = 250;

/** Bytes of a half. Its size is what it has taken so far, which is less than it may. */
function halfOfYoung(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return young === undefined ? ENOUGH : young.space_used_size + young.space_available_size;
}

let factor = Number.NaN;

/** Says by how much V8 enlarges the young generation, each time. */
function growBy(by: number): void {
  if (by !== factor) setFlagsFromString(`--semi-space-growth-factor=${by}`);
  factor = by;
}

/**
 * Keeps the young generation as small as it is. Nearly all that a start makes lives as long as the process, which makes V8 enlarge the young generation as
 * far as it may; it would go on holding that memory, a quarter of all that an idle process has, until it is told that memory is
 * scarce, and then forgets what it has compiled as well.
 */
export function keepYoungSmall(): void {
  growBy(1);
}

/** As V8 does by itself, but no further than is enough. */
const growAsUsual = (): void => growBy(halfOfYoung() < ENOUGH ? 2 : 1);

let lifting: NodeJS.Timeout | undefined;

/**
 * Has V8 give the young generation, for now, the size that large answers need. Smaller, as behind an idle while, it is collected in the middle
 * of each of them, and what is there of its archive grows old. By itself it would then go as far as it may, 32 MB, and not give that back.
 */
export function steerYoung(): void {
  const half = halfOfYoung();
  growBy(TOO_SMALL.find(([bytes]) => half < bytes)?.[1] ?? 1);
  clearTimeout(lifting);
  lifting = setTimeout(() => {
    lifting = undefined;
    growAsUsual();
  }, SOON).unref();
}

/**
 * Has V8 begin full collections for one reason only, from now on: that what is alive has nearly doubled. By itself V8 of Node 24 lets
 * the young generation grow to 128 MB, and begins one whenever there is less room for old objects than that. A gateway's heap is so small that they followed one
 * another, ten in a second, and took half of all time.
 */
export function collectSeldom(): void {
  growEvenly();
  growAsUsual();
  setInterval(() => {
    if (lifting === undefined) growAsUsual();
  }, LOOK).unref();
}
