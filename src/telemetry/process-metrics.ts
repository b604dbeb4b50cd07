// What Prometheus is told of the process itself: event loop, memory, garbage collection, resources. Once for a process, however
// many gateways live in it.
import { collectDefaultMetrics, Registry } from 'prom-client';

/**
 * Metrics that ask Node for its active handles and requests themselves rather than for their kinds: on Node 20 that ends the process
 * now and then, when one of them is just being closed (`Assertion failed: !obj.IsEmpty()`). A scrape must not be able to.
 */
const DANGEROUS = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
];

let started: Registry | undefined;

/** The process's own metrics; measuring begins with the first call. */
export function processMetrics(): Registry {
  if (started === undefined) {
    started = new Registry();
    collectDefaultMetrics({ register: started });
    for (const name of DANGEROUS) started.removeSingleMetric(name);
  }
  return started;
}
