// What Prometheus is told of the process itself: event loop, memory, garbage collection, handles. Once for a process, however
// many gateways live in it.
import { collectDefaultMetrics, Registry } from 'prom-client';

let started: Registry | undefined;

/** The process's own metrics; measuring begins with the first call. */
export function processMetrics(): Registry {
  if (started === undefined) {
    started = new Registry();
    collectDefaultMetrics({ register: started });
  }
  return started;
}
