// Single-flight: identical calls in flight are one. A caller that aborts stops waiting, and the
// last one to abort also aborts the call.

export interface SharedCall {
  /** Aborted when no caller waits any more. */
  readonly signal: AbortSignal;
  /** Sets the error that a caller whose signal aborts is given, instead of the signal's reason. */
  onAbort(error: () => Error): void;
}

/** Runs `task`, or waits for the call that is running under the same key. */
export type SingleFlight = <T>(
  key: string,
  signal: AbortSignal | undefined,
  task: (call: SharedCall) => Promise<T>,
) => Promise<T>;

interface Flight {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  waiting: number;
  isDone: boolean;
  abortError: (() => Error) | undefined;
}

/** Waits for the result, or until the signal aborts. */
export function abortable<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  toError: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const stop = () => reject(toError(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    result.finally(() => signal.removeEventListener('abort', stop)).then(resolve, reject);
  });
}

export function createSingleFlight(): SingleFlight {
  const flights = new Map<string, Flight>();

  function start(key: string, task: (call: SharedCall) => Promise<unknown>): Flight {
    const controller = new AbortController();
    const onAbort = (error: () => Error) => {
      flight.abortError = error;
    };
    const result = Promise.resolve({ signal: controller.signal, onAbort }).then(task);
    const flight: Flight = { result, controller, waiting: 0, isDone: false, abortError: undefined };
    flights.set(key, flight);
    const end = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    result.then(() => {
      flight.isDone = true;
      end();
    }, end);
    return flight;
  }

  return async <T>(
    key: string,
    signal: AbortSignal | undefined,
    task: (call: SharedCall) => Promise<T>,
  ): Promise<T> => {
    signal?.throwIfAborted();
    const flight = flights.get(key) ?? start(key, task);
    flight.waiting += 1;
    try {
      // The key names the task and thereby the type of its result.
      const result = flight.result as Promise<T>;
      return await abortable(result, signal, ({ reason }) => flight.abortError?.() ?? reason);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) {
        // No new caller joins a call that is about to be aborted.
        if (flights.get(key) === flight) flights.delete(key);
        if (!flight.isDone) flight.controller.abort();
      }
    }
  };
}
