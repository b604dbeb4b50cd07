// Whether this process has as much to do as it can: requests under way, shared out by client
// address, and how late the event loop is.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createShares } from './shares.ts';

export interface LoadShedder {
  /**
   * Begins a request.
   *
   * @param address - of the client; undefined for a request of this process itself
   * @returns ends it, once or more often; null when there is no room for it
   */
  enter(address?: string): (() => void) | null;
  /** Whether the event loop has been too late for a while. */
  readonly isLate: boolean;
  /** Requests under way. */
  readonly underWay: number;
  close(): void;
}

export interface PressureOptions {
  /** Requests at a time; 0: any number. */
  readonly mostRequests: number;
  /** Milliseconds that the event loop may be late on average; 0: any. */
  readonly mostDelayMs: number;
  readonly everyMs?: number;
}

/** How often the loop's timer looks at the clock. */
const RESOLUTION_MS = 20;
/**
 * One long turn, such as a large answer being written, is no overload; several such windows in a
 * row are.
 */
const LATE_WINDOWS = 2;

/** Opens the measure. */
export function createLoadShedder({
  mostRequests,
  mostDelayMs,
  everyMs = 1_000,
}: PressureOptions): LoadShedder {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const places = createShares(mostRequests);
  let late = 0;
  const look = () => {
    // The timer's own interval is part of what it measures.
    const mean = delay.mean / 1e6 - RESOLUTION_MS;
    delay.reset();
    late = mean > mostDelayMs ? late + 1 : 0;
  };
  const looking = mostDelayMs > 0 ? setInterval(look, everyMs).unref() : undefined;
  if (looking !== undefined) delay.enable();
  const isLate = () => late >= LATE_WINDOWS;
  return {
    enter(address) {
      if (isLate() || !places.take(address, 1)) return null;
      let inside = true;
      return () => {
        if (inside) places.give(address, 1);
        inside = false;
      };
    },
    get isLate() {
      return isLate();
    },
    get underWay() {
      return places.used;
    },
    close() {
      clearInterval(looking);
      delay.disable();
    },
  };
}
