// When the loaders of a request stop collecting keys and make their calls: at the end of a turn of
// the event loop, unless execution has yielded and continues in the next one. The number of calls
// does not depend on time.

/** Runs the loaders' work after the execution of a request has requested all keys that it can. */
export class CollectWindow {
  #held = 0;

  /** The execution goes on in a later turn. */
  hold(): void {
    this.#held += 1;
  }
  /** It does so now. */
  release(): void {
    this.#held -= 1;
  }
  /** Runs work at the end of the turn in which nothing is held. */
  readonly atEnd = (work: () => void): void => {
    setImmediate(() => {
      if (this.#held > 0) this.atEnd(work);
      else work();
    });
  };
}

/** How the loaders of a request schedule their work. */
export const schedulerOf = ({
  collecting,
}: {
  readonly collecting?: CollectWindow;
}): CollectWindow['atEnd'] => collecting?.atEnd ?? setImmediate;
