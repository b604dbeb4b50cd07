// What is there for a moment, by its key: calls under way, entries that wait to be written. It must not know what they are.

interface Box<T> {
  value: T | undefined;
}

/**
 * A Map for what comes and goes. A Map that is added to and taken from moves on to a new table now and then, and the old one refers to the new one
 * and to what it held. Once one of them, long dead, lies in V8's old generation, all that follow are kept until the next full collection, with
 * everything that has passed through: whole answers, of every request. So what is taken out here leaves an empty box behind, whoever
 * still refers to that.
 */
export class Passing<K extends string | number, T> {
  private readonly boxes = new Map<K, Box<T>>();

  get size(): number {
    return this.boxes.size;
  }
  has(key: K): boolean {
    return this.boxes.has(key);
  }
  get(key: K): T | undefined {
    return this.boxes.get(key)?.value;
  }
  set(key: K, value: T): void {
    const box = this.boxes.get(key);
    if (box === undefined) this.boxes.set(key, { value });
    else box.value = value;
  }
  delete(key: K): void {
    const box = this.boxes.get(key);
    if (box === undefined) return;
    box.value = undefined;
    this.boxes.delete(key);
  }
  clear(): void {
    for (const box of this.boxes.values()) box.value = undefined;
    this.boxes.clear();
  }
  /** In the order in which they came. May be taken out meanwhile. */
  *entries(): Generator<[K, T]> {
    for (const [key, { value }] of this.boxes) if (value !== undefined) yield [key, value];
  }
}

/** What is under way and has to be waited for before something may end. */
export class UnderWay {
  private readonly passing = new Passing<number, Promise<unknown>>();
  private last = 0;

  add(work: Promise<unknown>): void {
    const id = ++this.last;
    this.passing.set(id, work);
    const done = () => this.passing.delete(id);
    work.then(done, done);
  }
  /** Waits for all that is under way now, however it ends. */
  async ended(): Promise<void> {
    await Promise.allSettled(Array.from(this.passing.entries(), ([, work]) => work));
  }
}
