// CPU time, for tests that judge how much work something is: unlike real time, it does not grow when other processes are busy.
import { readFileSync } from 'node:fs';

/** Milliseconds that all threads of this process have spent. */
const ofProcess = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Milliseconds that the main thread has spent, as Linux counts them at each tick; elsewhere those of all threads. */
const ofMainThread = (): number => {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return ofProcess();
  }
};

/** Starts to measure. The function gives the CPU time since then in milliseconds, at most the real time: threads work side by side. */
function start(read: () => number): () => number {
  const at = performance.now();
  const before = read();
  return () => Math.min(performance.now() - at, read() - before);
}

/** Measures what this process works, all its threads together. */
export const startCpuTimer = (): (() => number) => start(ofProcess);

/** Keeps the event loop busy for so many milliseconds. */
export function block(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

/** Runs it and gives its result with its longest turn of the event loop, in milliseconds of CPU time of the main thread. */
export async function longestBlock<T>(run: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  // To collect what other tests have left is not its work.
  void globalThis.gc?.();
  let milliseconds = 0;
  let turn = start(ofMainThread);
  let next = setImmediate(measure);
  function measure(): void {
    milliseconds = Math.max(milliseconds, turn());
    turn = start(ofMainThread);
    next = setImmediate(measure);
  }
  try {
    const result = await run();
    measure();
    return { result, milliseconds };
  } finally {
    clearImmediate(next);
  }
}
