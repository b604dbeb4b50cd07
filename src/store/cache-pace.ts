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

/** @returns a function that says whether it may be done now, and counts it if so */
export function openPace({ perSecond, burst, now = () => performance.now() }: PaceOptions): () => boolean {
  let left = burst;
  let at = now();
  return () => {
    const moment = now();
    left = Math.min(burst, left + ((moment - at) / 1000) * perSecond);
    at = moment;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
