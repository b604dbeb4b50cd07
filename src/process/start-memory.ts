// Gives back the memory that only the start needed, once. It must not know what was started.
import { performance } from 'node:perf_hooks';

/** How often it is looked whether the process has nothing to do, and what part of the time it may have worked. */
const LOOK_MS = 2_000;
const IDLE = 0.05;
/** Milliseconds of work altogether, after which V8 has compiled what the requests need: some thousands of them. */
const COMPILED_MS = 1_000;

/**
 * Waits until the process is idle and then collects its garbage with all means. A start compiles and builds so much that V8 keeps a large
 * young generation, a third of all that an idle process takes, and shrinks it only when told that memory is scarce, which the
 * inspector's `collectGarbage` does and `--expose-gc` does not. It grows again as soon as it is needed. That stops the process for two or three
 * tenths of a second, and V8 forgets what it has compiled: whatever was asked would take four times as long for seconds.
 * So a process that has worked for a second is left alone, and so is one that is never idle.
 */
export function releaseStartMemory(lookMs = LOOK_MS): void {
  // A Node that was built without it keeps what it has.
  if (!process.features.inspector) return;
  const since = performance.eventLoopUtilization();
  let before = since;
  const looking = setInterval(async () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const compiled = now.active - since.active > COMPILED_MS;
    if (compiled) clearInterval(looking);
    if (compiled || utilization > IDLE) return;
    clearInterval(looking);
    const { Session } = await import('node:inspector');
    const session = new Session();
    session.connect();
    // Disconnected within its own answer it would never return.
    session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
  }, lookMs);
  looking.unref();
}
