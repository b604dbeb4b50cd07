// How often something that may be left out is done: in bursts as often as it comes, for long no more than so often in a second. It knows
// nothing of what is done.

export interface PaceOptions {
  /** Times in a second that it may go on for. */
  readonly perSecond: number;
  /** Times that may come at once after a rest. */
  readonly burst: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number;
}

export interface Pace {
  /** Whether it may be done now. */
  isDue(): boolean;
  /** The same; counts it if so. */
  take(): boolean;
}

/** Opens a pace. */
export function openPace({ perSecond, burst, now = () => performance.now() }: PaceOptions): Pace {
  let left = burst;
  let at = now();
  const isDue = (): boolean => {
    const moment = now();
    left = Math.min(burst, left + ((moment - at) / 1000) * perSecond);
    at = moment;
    return left >= 1;
  };
  return {
    isDue,
    take() {
      const may = isDue();
      if (may) left -= 1;
      return may;
    },
  };
}
