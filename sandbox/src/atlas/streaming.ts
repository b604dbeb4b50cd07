// Bodies that are made only as fast as they are read, and work that runs a little ahead of them.

/** Enough to keep two threads busy while a result is sent. */
const ITEMS_AHEAD = 6;

/** The body of those pieces. */
export function toStream(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

/** Starts the work on each item a few items ahead and gives the results in order. */
export async function* ahead<T, R>(items: readonly T[], start: (item: T) => Promise<R>): AsyncGenerator<R> {
  const started: Promise<R>[] = [];
  for (const [n] of items.entries()) {
    for (const item of items.slice(n + started.length, n + ITEMS_AHEAD)) {
      const result = start(item);
      // A failure is thrown where its turn comes; until then it is not unhandled.
      result.catch(() => {});
      started.push(result);
    }
    const next = started.shift();
    if (next !== undefined) yield await next;
  }
}
