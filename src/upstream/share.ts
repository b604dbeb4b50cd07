// Identical reads of several requests at the same time are one call. Who leaves stops waiting; the call itself stops when
// nobody waits any more. It does not know what is read.

/** What a shared read is given instead of one caller's signal. */
export interface SharedRun {
  readonly signal: AbortSignal;
  /** Says with what error a caller whose time is up leaves, instead of its signal's reason. */
  onLeave(error: () => Error): void;
  /** Tells all who wait, and all who still come, of a piece that is there before the whole. */
  tell(piece: unknown): void;
}

/** Runs `read`, or waits for the run that another caller began under the same key. */
export type Share = <T, P = never>(
  key: string,
  signal: AbortSignal | undefined,
  read: (run: SharedRun) => Promise<T>,
  /** Given each piece that is told, also those from before this caller came. */
  onPiece?: (piece: P) => void,
) => Promise<T>;

class Running implements SharedRun {
  readonly controller = new AbortController();
  result: Promise<unknown> | undefined;
  waiting = 0;
  /** Whether there is nothing left to stop. */
  done = false;
  leaving: (() => Error) | undefined;
  private told: unknown[] | undefined;
  private listeners: ((piece: unknown) => void)[] | undefined;

  get signal(): AbortSignal {
    return this.controller.signal;
  }
  onLeave(error: () => Error): void {
    this.leaving = error;
  }
  tell(piece: unknown): void {
    this.told ??= [];
    this.told.push(piece);
    for (const listener of this.listeners ?? []) listener(piece);
  }
  listen(listener: (piece: unknown) => void): void {
    this.told?.forEach((piece) => {
      listener(piece);
    });
    this.listeners = [...(this.listeners ?? []), listener];
  }
  unlisten(listener: (piece: unknown) => void): void {
    this.listeners = this.listeners?.filter((other) => other !== listener);
  }
}

/** Waits for the result, or for the signal. */
export function unless<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  leave: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return result;
  // By hand: a race makes three promises more.
  return new Promise((resolve, reject) => {
    const stop = () => reject(leave(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    result.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(error);
      },
    );
  });
}

/** A place where reads are shared; one for a process. */
export function openShare(): Share {
  const underway = new Map<string, Running>();

  const start = <T>(key: string, read: (run: SharedRun) => Promise<T>): Running => {
    const running = new Running();
    underway.set(key, running);
    const end = () => {
      if (underway.get(key) === running) underway.delete(key);
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
    read: (run: SharedRun) => Promise<T>,
    onPiece?: (piece: P) => void,
  ) => {
    const running = underway.get(key) ?? start(key, read);
    // The key names the read and thereby its pieces' type.
    const listener = onPiece && ((piece: unknown) => onPiece(piece as P));
    if (listener !== undefined) running.listen(listener);
    running.waiting += 1;
    try {
      // The key names the read and thereby its type.
      return await unless(
        running.result as Promise<T>,
        signal,
        ({ reason }) => running.leaving?.() ?? reason,
      );
    } finally {
      if (listener !== undefined) running.unlisten(listener);
      running.waiting -= 1;
      if (running.waiting === 0) {
        if (underway.get(key) === running) underway.delete(key);
        // To leave makes an error with its stack, also where nobody listens: a tenth of a small read.
        if (!running.done) running.controller.abort();
      }
    }
  };
}
