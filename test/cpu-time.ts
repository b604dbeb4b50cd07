// Judges how much work something is by comparing CPU times with each other: an absolute bound says
// more about the machine, and about what else it does, than about the code.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * Each is measured up to so many times, and the least counts: a collection of garbage is not the
 * work's.
 */
const TRIES = 15;
/** The large input of `expectLinear` is so many times the small one. */
export const GROWTH = 8;
/** The large input may take so many times as long; in quadratic time it takes 64 times as long. */
const MAX_GROWTH = 12;

/** Milliseconds of CPU time that all threads of this process have spent. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds that the main thread has spent, as Linux counts them at each tick; elsewhere those
 * of all threads.
 */
function mainThreadMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return processMs();
  }
}

/**
 * Starts a timer. The function returns the CPU time since then, at most the real time: threads work
 * side by side.
 */
function startTimer(read: () => number): () => number {
  const at = performance.now();
  const before = read();
  return () => Math.min(performance.now() - at, read() - before);
}

/** Work is repeated until its reference takes so long: other threads work for moments as well. */
const LEAST_MS = 20;
const MAX_REPEATS = 100;
/** Runs of the reference before that. */
const WARMING = 5;

/** Starts a timer of the CPU time of this process, all its threads together, in milliseconds. */
export const startCpuTimer = (): (() => number) => startTimer(processMs);

/** Keeps the event loop busy for so many milliseconds. */
export function block(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

/** How `expectAtMost` measures. */
interface Measuring {
  /**
   * Runs of the reference in a row, of which one counts: to take about as long, and make as much
   * garbage, as the work.
   */
  referenceRuns?: number;
  /** The name of the work, for the message of a failure. */
  name?: string;
}

/**
 * Expects work to take at most so many times the CPU time of a reference measured beside it. Ends
 * at the first try that shows it, by itself or together with those before: other
 * processes slow both down, by other factors at each moment.
 */
export async function expectAtMost(
  times: number,
  reference: () => unknown,
  work: () => unknown,
  { referenceRuns = 1, name = 'the work' }: Measuring = {},
): Promise<void> {
  const measure = async (run: () => unknown, runs: number): Promise<number> => {
    const spent = startCpuTimer();
    for (let i = 0; i < runs; i++) await run();
    return spent() / runs;
  };
  // Code runs slower when it runs for the first times.
  let once = Number.POSITIVE_INFINITY;
  for (let i = 0; i < WARMING; i++)
    once = Math.min(once, (await measure(reference, referenceRuns)) * referenceRuns);
  const repeats = Math.ceil(Math.min(LEAST_MS / once, MAX_REPEATS));
  let [leastReference, leastWork] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    // To collect what came before is neither's work.
    if (attempt > 0) void globalThis.gc?.();
    const referenceMs = await measure(reference, referenceRuns * repeats);
    const workMs = await measure(work, repeats);
    leastReference = Math.min(leastReference, referenceMs);
    leastWork = Math.min(leastWork, workMs);
    if (workMs <= times * referenceMs || leastWork <= times * leastReference) return;
  }
  expect(leastWork / leastReference, `CPU time of ${name} by that of its reference`).toBeLessThanOrEqual(
    times,
  );
}

/**
 * Expects work to be linear: the large input, `GROWTH` times the small one, takes at most
 * `MAX_GROWTH` times the CPU time.
 */
export const expectLinear = (
  small: () => unknown,
  large: () => unknown,
  measuring: Omit<Measuring, 'referenceRuns'> = {},
): Promise<void> => expectAtMost(MAX_GROWTH, small, large, { ...measuring, referenceRuns: GROWTH });

/**
 * Runs it and returns the CPU time of the longest turn that the event loop of the main thread took,
 * and that of all threads together.
 */
async function measureTurns(run: () => Promise<unknown>): Promise<{ longestMs: number; wholeMs: number }> {
  // To collect what other tests have left is not its work.
  void globalThis.gc?.();
  const whole = startTimer(processMs);
  let longestMs = 0;
  let turn = startTimer(mainThreadMs);
  let next = setImmediate(measure);
  function measure(): void {
    longestMs = Math.max(longestMs, turn());
    turn = startTimer(mainThreadMs);
    next = setImmediate(measure);
  }
  try {
    await run();
    measure();
    return { longestMs, wholeMs: whole() };
  } finally {
    clearImmediate(next);
  }
}

/**
 * Expects work to leave the event loop to others: in one of its tries, its longest turn takes at
 * most the given share of the CPU time of the whole.
 */
export async function expectShortTurns(run: () => Promise<unknown>, share: number): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && least > share; attempt++) {
    const { longestMs, wholeMs } = await measureTurns(run);
    least = Math.min(least, longestMs / wholeMs);
  }
  expect(least, 'share of the longest turn of the event loop').toBeLessThanOrEqual(share);
}
