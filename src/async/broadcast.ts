// A value with many watchers: each reads the latest when it is ready, so a slow watcher neither
// delays the others nor fills a queue.

/** Turns a value into a watcher's event; undefined when it holds nothing new for that watcher. */
export type EventSelector<T, E> = (value: T) => E | undefined;

export interface Broadcast<T> {
  readonly watchers: number;
  /** Replaces the value; a watcher that has not read the previous one skips it. */
  publish(value: T): void;
  /** Ends every watch once it has read the present value. */
  end(): void;
  /**
   * Watches, beginning with the present value, if there is one.
   *
   * @param signal - ends the watch when it aborts, even if nothing reads the iterator any more
   * @param onLeave - called once, when the watch has ended for any reason
   * @param isLast - whether the watch ends after an event
   */
  watch<E>(
    read: EventSelector<T, E>,
    signal: AbortSignal | undefined,
    onLeave: () => void,
    isLast?: (event: E) => boolean,
  ): AsyncGenerator<E, void, void>;
}

export function createBroadcast<T>(): Broadcast<T> {
  const watchers = new Set<() => void>();
  let latest: { value: T } | undefined;
  let version = 0;
  let ended = false;

  const wakeAll = () => {
    for (const wake of watchers) wake();
  };

  function watch<E>(
    read: EventSelector<T, E>,
    signal: AbortSignal | undefined,
    onLeave: () => void,
    isLast: (event: E) => boolean = () => false,
  ): AsyncGenerator<E, void, void> {
    let seen = 0;
    let left = false;
    let resume: () => void = () => undefined;
    const wake = () => resume();
    const leave = () => {
      if (left) return;
      left = true;
      watchers.delete(wake);
      signal?.removeEventListener('abort', leave);
      wake();
      onLeave();
    };
    watchers.add(wake);
    if (signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave);

    async function* eventsUntilLeft() {
      try {
        while (!left) {
          if (latest !== undefined && seen < version) {
            seen = version;
            const event = read(latest.value);
            if (event === undefined) continue;
            yield event;
            if (isLast(event)) return;
          } else if (ended) return;
          else
            await new Promise<void>((resolve) => {
              resume = resolve;
            });
        }
      } finally {
        leave();
      }
    }
    const events = eventsUntilLeft();
    const end = events.return.bind(events);
    // A pending `next`, whose event may never come, ends too: a generator returns behind it.
    events.return = (value) => {
      leave();
      return end(value);
    };
    return events;
  }

  return {
    get watchers() {
      return watchers.size;
    },
    publish(value) {
      latest = { value };
      version += 1;
      wakeAll();
    },
    end() {
      ended = true;
      wakeAll();
    },
    watch,
  };
}
