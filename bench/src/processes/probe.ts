// Loaded first into every process that is measured: it answers over the channel of its
// parent what CPU time it has used and how long its event loop stood still. It changes nothing
// else. Threads of such a process are left alone.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds between two looks at the loop: a stall is known to within as much. */
const RESOLUTION = 2;

/** The numbers that a process gives of itself. */
export interface Reading {
  /** Milliseconds of CPU time since the start, all threads. */
  readonly cpu: number;
  /** The longest that the event loop stood still since the last reading, milliseconds. */
  readonly stall: number;
  /** Bytes of live and dead objects that V8 has not collected, and of buffers outside its heap. */
  readonly heapUsed: number;
  readonly external: number;
}

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  process.on('message', (message: unknown) => {
    if (message !== 'read') return;
    const { user, system } = process.cpuUsage();
    const { heapUsed, external } = process.memoryUsage();
    const reading: Reading = {
      cpu: (user + system) / 1000,
      stall: Math.max(0, delay.max / 1e6 - RESOLUTION),
      heapUsed,
      external,
    };
    delay.reset();
    process.send?.(reading);
  });
  process.on('disconnect', () => process.exit(0));
  // The channel must keep no process alive that has ended its work.
  process.channel?.unref();
}
