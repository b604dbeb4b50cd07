// Work that goes on when its client has disconnected, and that the end of the process waits for.

export interface PendingWork {
  /** Does work that is waited for. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves as soon as nothing is pending. */
  ended(): Promise<void>;
}

export function createPendingWork(): PendingWork {
  const pending = new Set<Promise<unknown>>();
  return {
    async run(work) {
      const running = work();
      pending.add(running);
      try {
        return await running;
      } finally {
        pending.delete(running);
      }
    },
    async ended() {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}
