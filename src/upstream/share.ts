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

interface Running {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  readonly told: unknown[];
  readonly listeners: Set<(piece: unknown) => void>;
  waiting: number;
  /** Whether there is nothing left to stop. */
  done: boolean;
  leaving: (() => Error) | undefined;
}

/** Waits for the result, or for the signal. */
export async function unless<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  leave: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return result;
  let stop: (() => void) | undefined;
  const left = new Promise<never>((_, reject) => {
    stop = () => reject(leave(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([result, left]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

/** A place where reads are shared; one for a process. */
export function openShare(): Share {
  const underway = new Map<string, Running>();

  const start = <T>(key: string, read: (run: SharedRun) => Promise<T>): Running => {
    const controller = new AbortController();
    const result = Promise.resolve().then(() =>
      read({
        signal: controller.signal,
        onLeave: (error) => {
          running.leaving = error;
        },
        tell: (piece) => {
          running.told.push(piece);
          for (const listener of running.listeners) listener(piece);
        },
      }),
    );
    const running: Running = {
      result,
      controller,
      told: [],
      listeners: new Set(),
      waiting: 0,
      done: false,
      leaving: undefined,
    };
    const end = () => {
      if (underway.get(key) === running) underway.delete(key);
    };
    result.then(() => {
      running.done = true;
      end();
    }, end);
    underway.set(key, running);
    return running;
  };

  return async <T, P>(
    key: string,
    signal: AbortSignal | undefined,
    read: (run: SharedRun) => Promise<T>,
    onPiece: (piece: P) => void = () => undefined,
  ) => {
    const running = underway.get(key) ?? start(key, read);
    // The key names the read and thereby its pieces' type.
    const listener = (piece: unknown) => onPiece(piece as P);
    running.told.forEach(listener);
    running.listeners.add(listener);
    running.waiting += 1;
    try {
      // The key names the read and thereby its type.
      return await unless(
        running.result as Promise<T>,
        signal,
        ({ reason }) => running.leaving?.() ?? reason,
      );
    } finally {
      running.listeners.delete(listener);
      running.waiting -= 1;
      if (running.waiting === 0) {
        if (underway.get(key) === running) underway.delete(key);
        // An abort that nobody listens to still makes an error with its stack: a tenth of a small read.
        if (!running.done) running.controller.abort();
      }
    }
  };
}
