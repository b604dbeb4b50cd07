// How long the event loop stood still while something ran.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs it and gives its result with the longest stand-still of the loop, in milliseconds. */
export async function longestBlock<T>(run: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await sleep(20);
  delay.reset();
  const result = await run();
  await sleep(20);
  delay.disable();
  return { result, milliseconds: delay.max / 1e6 };
}

/**
 * What a machine that others use as well adds to every measurement: the longest block of a run that does nothing but wait.
 *
 * @param runs - how often it is measured, of which the worst counts
 */
export async function noise(runs = 3): Promise<number> {
  let worst = 0;
  for (let i = 0; i < runs; i++) {
    worst = Math.max(worst, (await longestBlock(() => sleep(200))).milliseconds);
  }
  return worst;
}
