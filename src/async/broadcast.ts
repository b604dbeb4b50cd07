// A value with many watchers: each reads the latest when it is ready, so a slow watcher neither
// delays the others nor fills a queue.

/** Turns a value into a watcher's event; undefined when it holds nothing new for that watcher. */
export type EventSelector<T, E> = (value: T) => E | undefined;

interface Watcher {
  seen: number;
  left: boolean;
  wake: () => void;
}

const DONE = { done: true, value: undefined } as const;

/** Makes a topic without a value. */
export function createBroadcast<T>() {
  const watchers = new Set<Watcher>();
  let latest: { value: T } | undefined;
  let version = 0;
  let ended = false;

  const wakeAll = () => {
    for (const watcher of watchers) watcher.wake();
  };

  function watch<E>(
    read: EventSelector<T, E>,
    signal: AbortSignal | undefined,
    onLeave: () => void,
  ): AsyncIterableIterator<E> {
    const watcher: Watcher = { seen: 0, left: false, wake: () => undefined };
    const leave = () => {
      if (watcher.left) return;
      watcher.left = true;
      watchers.delete(watcher);
      signal?.removeEventListener('abort', leave);
      watcher.wake();
      onLeave();
    };
    watchers.add(watcher);
    if (signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave);

    const step = async (): Promise<IteratorResult<E, undefined>> => {
      while (!watcher.left) {
        if (latest !== undefined && watcher.seen < version) {
          watcher.seen = version;
          const event = read(latest.value);
          if (event !== undefined) return { done: false, value: event };
        } else if (ended) leave();
        else
          await new Promise<void>((resolve) => {
            watcher.wake = resolve;
          });
      }
      return DONE;
    };
    let turn: Promise<unknown> = Promise.resolve();
    return {
      next() {
        const result = turn.then(step);
        turn = result.catch(() => undefined);
        return result;
      },
      // Does not wait for a pending `next`, whose event may never come.
      async return() {
        leave();
        return DONE;
      },
      async throw(error) {
        leave();
        throw error;
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  return {
    /** How many watch at present. */
    get watchers() {
      return watchers.size;
    },
    /** Replaces the value; a watcher that has not read the previous one skips it. */
    publish(value: T) {
      latest = { value };
      version += 1;
      wakeAll();
    },
    /** Ends every watch once it has read the present value. */
    end() {
      ended = true;
      wakeAll();
    },
    /**
     * Watches, beginning with the present value, if there is one.
     *
     * @param signal - ends the watch when it aborts, even if nothing reads the iterator any more
     * @param onLeave - called once, when the watch has ended for any reason
     */
    watch,
  };
}
