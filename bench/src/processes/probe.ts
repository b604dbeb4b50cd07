// Loaded first into every process that is measured, whoever it is: answers over the channel of its parent what CPU time it has used
// and how long its event loop stood still. It changes nothing else.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** Milliseconds between two looks at the loop: a stall is known to within as much. */
const RESOLUTION = 2;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
delay.enable();

/** What a process says of itself. */
export interface Reading {
  readonly reading: true;
  /** Milliseconds of CPU time since the start, all threads. */
  readonly cpu: number;
  /** The longest that the event loop stood still since the last reading, milliseconds. */
  readonly stall: number;
  /** When it was read, milliseconds of the process's clock. */
  readonly at: number;
}

process.on('message', (message: unknown) => {
  if (message !== 'read') return;
  const { user, system } = process.cpuUsage();
  const reading: Reading = {
    reading: true,
    cpu: (user + system) / 1000,
    stall: Math.max(0, delay.max / 1e6 - RESOLUTION),
    at: performance.now(),
  };
  delay.reset();
  process.send?.(reading);
});
// The channel must keep no process alive that has ended its work; the bench's own end ends it.
process.on('disconnect', () => process.exit(0));
process.channel?.unref();
