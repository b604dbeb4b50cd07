// A list whose first items can be read while the others are still pending.

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * Items in their order, of which more may come. Read by one reader: item by item as any list that
 * comes late, or all that are there at once.
 */
export class IncrementalList<T> implements AsyncIterable<T> {
  readonly #items: (T | Promise<T>)[] = [];
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined;
  #go: (() => void) | undefined;

  /** What has come so far. An item that failed is a promise of it. */
  get items(): readonly (T | Promise<T>)[] {
    return this.#items;
  }
  /** Whether no more will come. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }
  add(items: readonly (T | Promise<T>)[]): void {
    if (items.length === 0) return;
    this.#items.push(...items);
    this.#go?.();
  }
  end(): void {
    this.#hasEnded = true;
    this.#go?.();
  }
  /** Ends it by an error, which its reader is given. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }
  /**
   * Waits until there are more than so many items, or no more will come.
   *
   * @throws what the list has failed with
   */
  async more(count: number): Promise<void> {
    while (this.#items.length <= count && !this.#hasEnded)
      await new Promise<void>((resolve) => (this.#go = resolve));
    if (this.#failure !== undefined) throw this.#failure.error;
  }
  /** All items. @throws what the list has failed with */
  async all(): Promise<readonly (T | Promise<T>)[]> {
    await this.more(Number.POSITIVE_INFINITY);
    return this.#items;
  }
  /** For other executors: they take an error in place of a failed item, of which their types do not tell. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let at = 0; ; at += 1) {
      await this.more(at);
      const item = this.#items[at];
      if (item === undefined) return;
      yield item instanceof Promise ? ((await item.catch(errorOf)) as T) : item;
    }
  }
}
