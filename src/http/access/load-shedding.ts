// Load shedding: the requests in flight of this process, and how late its event loop is.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Config } from '../../config.ts';

export interface LoadShedder {
  readonly inFlight: number;
  /** Whether the event loop has been too late for a while. */
  readonly isLate: boolean;
  /**
   * Counts a request in flight.
   *
   * @returns ends it, once or more often; null when there is no room for it
   */
  enter(): (() => void) | null;
  close(): void;
}

/** How often Node's timer looks at the clock. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 1_000;
/**
 * One long turn, such as a large answer being written, is no overload; two windows in a row are.
 */
const LATE_WINDOWS = 2;

/** Refuses requests beyond MAX_CONCURRENT_REQUESTS, and all while the event loop is late. */
export function createLoadShedder({
  MAX_CONCURRENT_REQUESTS: maxInFlight,
  limits: { eventLoopDelayMs },
}: Config): LoadShedder {
  const maxDelayMs = maxInFlight > 0 ? eventLoopDelayMs : 0;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let inFlight = 0;
  let lateWindows = 0;
  const endWindow = (): void => {
    // The timer's own interval is part of what it measures.
    const meanMs = delay.mean / 1e6 - RESOLUTION_MS;
    delay.reset();
    lateWindows = meanMs > maxDelayMs ? lateWindows + 1 : 0;
  };
  const windows = maxDelayMs > 0 ? setInterval(endWindow, WINDOW_MS).unref() : undefined;
  if (windows !== undefined) delay.enable();
  const isLate = (): boolean => lateWindows >= LATE_WINDOWS;
  return {
    get inFlight() {
      return inFlight;
    },
    get isLate() {
      return isLate();
    },
    enter() {
      if (isLate() || (maxInFlight > 0 && inFlight >= maxInFlight)) return null;
      inFlight += 1;
      let isInside = true;
      return () => {
        if (isInside) inFlight -= 1;
        isInside = false;
      };
    },
    close() {
      clearInterval(windows);
      delay.disable();
    },
  };
}
