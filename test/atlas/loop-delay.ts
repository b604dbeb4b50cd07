// How long the event loop stood still while something ran.

/**
 * Runs it and gives its result with its longest turn of the event loop, in milliseconds.
 *
 * A turn counts as the CPU time of this process, so that other processes of a busy machine neither lengthen nor excuse it, or as
 * its duration where that is shorter: other threads of the process, such as those that decompress, work beside it.
 */
export async function longestBlock<T>(run: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const begin = () => ({ at: performance.now(), cpu: process.cpuUsage() });
  let milliseconds = 0;
  let turn = begin();
  let next = setImmediate(measure);
  function measure(): void {
    const { user, system } = process.cpuUsage(turn.cpu);
    milliseconds = Math.max(milliseconds, Math.min(performance.now() - turn.at, (user + system) / 1000));
    turn = begin();
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
