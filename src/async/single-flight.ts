// Calls under way. Single-flight: identical calls in flight are one; a caller that aborts stops waiting,
// the last one to abort also aborts the call, and a caller that has aborted already starts none.

/** What a shared call is given instead of one caller's signal. */
export interface SharedCall {
  readonly signal: AbortSignal;
  /** Sets the error that a caller whose signal aborts is given, instead of the signal's reason. */
  onAbort(error: () => Error): void;
  /** Gives a part that is there before the whole to all callers, also to those that join later. */
  publishPart(part: unknown): void;
}

/**
 * Runs `read`, or waits for the call that is running under the same key. Keys become names of
 * properties, which V8 copies: long ones are given as digests.
 */
export type SingleFlight = <T, P = never>(
  key: string,
  signal: AbortSignal | undefined,
  read: (run: SharedCall) => Promise<T>,
  /** Given each published part, also those from before this caller joined. */
  onPart?: (part: P) => void,
) => Promise<T>;

class ActiveCall implements SharedCall {
  readonly controller = new AbortController();
  result: Promise<unknown> | undefined;
  waiting = 0;
  /** Whether there is nothing left to stop. */
  done = false;
  abortError: (() => Error) | undefined;
  private published: unknown[] | undefined;
  private listeners: ((part: unknown) => void)[] | undefined;

  get signal(): AbortSignal {
    return this.controller.signal;
  }
  onAbort(error: () => Error): void {
    this.abortError = error;
  }
  publishPart(part: unknown): void {
    this.published ??= [];
    this.published.push(part);
    for (const listener of this.listeners ?? []) listener(part);
  }
  listen(listener: (part: unknown) => void): void {
    this.published?.forEach((part) => {
      listener(part);
    });
    this.listeners = [...(this.listeners ?? []), listener];
  }
  unlisten(listener: (part: unknown) => void): void {
    this.listeners = this.listeners?.filter((other) => other !== listener);
  }
}

/** Waits for the result, or for the signal. */
export function abortable<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  errorOf: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const stop = () => reject(errorOf(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    result.finally(() => signal.removeEventListener('abort', stop)).then(resolve, reject);
  });
}

export function createSingleFlight(): SingleFlight {
  // Not a Map: of one in which entries come and go, V8 keeps old tables with what they held.
  const underway = Object.create(null) as Record<string, ActiveCall>;

  const start = <T>(key: string, read: (run: SharedCall) => Promise<T>): ActiveCall => {
    const running = new ActiveCall();
    underway[key] = running;
    const end = () => {
      if (underway[key] === running) delete underway[key];
    };
    const result = Promise.resolve(running).then(read);
    running.result = result;
    result.then(() => {
      running.done = true;
      end();
    }, end);
    return running;
  };

  return async <T, P>(
    key: string,
    signal: AbortSignal | undefined,
    read: (run: SharedCall) => Promise<T>,
    onPart?: (part: P) => void,
  ) => {
    // Aborting one request ends dozens of its reads, each of which lets the next one begin.
    if (signal?.aborted === true) throw signal.reason;
    const running = underway[key] ?? start(key, read);
    // The key names the read and thereby its parts' type.
    const listener = onPart && ((part: unknown) => onPart(part as P));
    if (listener !== undefined) running.listen(listener);
    running.waiting += 1;
    try {
      // The key names the read and thereby its type.
      return await abortable(
        running.result as Promise<T>,
        signal,
        ({ reason }) => running.abortError?.() ?? reason,
      );
    } finally {
      if (listener !== undefined) running.unlisten(listener);
      running.waiting -= 1;
      if (running.waiting === 0) {
        if (underway[key] === running) delete underway[key];
        // Aborting makes an error with its stack, also without a listener.
        if (!running.done) running.controller.abort();
      }
    }
  };
}

export type Underway = ReturnType<typeof createUnderway>;

/**
 * A count, and no Set of promises: V8 keeps what has left a long-lived Set until the next full
 * collection, and with it the request.
 */
export function createUnderway() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    /** Does work that is waited for. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        if (running === 0) for (const resolve of waiting.splice(0)) resolve();
      }
    },
    /** Resolves as soon as nothing is under way. */
    async ended(): Promise<void> {
      if (running > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
