// Lets those who ask the same at the same time wait for one answer. It must not know what is asked.

export interface Flights<T> {
  /**
   * What somebody else is working out for a key at this moment, else what `work` does. Who has waited for nothing, because whoever worked
   * for it failed or left, works for itself.
   *
   * @param work - gives null for what nobody else may have; its second value is for the worker alone
   */
  share<Own>(
    key: string,
    work: () => Promise<{ shared: T | null; own: Own }>,
  ): Promise<{ shared: T } | { own: Own }>;
}

export function openFlights<T>(): Flights<T> {
  const underWay = new Map<string, Promise<T | null>>();
  return {
    async share(key, work) {
      const flying = underWay.get(key);
      // Nothing is waited for before this one is known to those who come in the same moment.
      const others = flying === undefined ? null : await flying;
      if (others !== null) return { shared: others };
      const working = work();
      const shared = working.then(
        (done) => done.shared,
        () => null,
      );
      const first = !underWay.has(key);
      if (first) underWay.set(key, shared);
      try {
        return { own: (await working).own };
      } finally {
        if (first) underWay.delete(key);
      }
    },
  };
}
