// One value that many watch: each gets the latest when it is ready for it, so that a slow reader holds up nobody and no
// queue grows. It must not know what the value is.

/** What a watcher makes of a value: its event, or undefined when the value holds nothing new for it. */
export type EventSelector<T, E> = (value: T) => E | undefined;

export interface Broadcast<T> {
  /** How many watch at present. */
  readonly watchers: number;
  /** Replaces the value; who has not seen the one before will not see it any more. */
  publish(value: T): void;
  /** Ends every watch once it has read the present value. */
  end(): void;
  /**
   * Watches. The present value comes first, if there is one. Memory of a watcher is a few words whatever happens.
   *
   * @param signal - ends the watch when it is aborted, also one that nobody reads from any more
   * @param onLeave - told once, when the watch has ended for whatever reason
   */
  watch<E>(
    read: EventSelector<T, E>,
    signal: AbortSignal | undefined,
    onLeave: () => void,
  ): AsyncIterableIterator<E>;
}

interface Watcher {
  seen: number;
  left: boolean;
  wake: () => void;
}

const DONE = { done: true, value: undefined } as const;

/** Makes a topic without a value. */
export function createBroadcast<T>(): Broadcast<T> {
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
      // Does not wait for a `next` under way, which may be waiting for something that never happens.
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
