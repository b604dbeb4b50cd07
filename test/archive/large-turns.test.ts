// Several large answers at once: the archive of one is read and what came of it written before the next, but nobody waits for one that does not come or is not taken.
import { describe, expect, it } from 'vitest';
import { inTurn, WritingTurn } from '../../src/large-turns.ts';

const bytes = (n: number) => Uint8Array.of(n);

/** A source that gives so many pieces, then waits until it is let go, and gives one more. */
function stalling(pieces: number) {
  let go = (): void => undefined;
  const stalled = new Promise<void>((resolve) => {
    go = resolve;
  });
  async function* source() {
    for (let n = 0; n < pieces; n += 1) yield bytes(n);
    await stalled;
    yield bytes(pieces);
  }
  return { source: source(), go };
}

/** One that never waits. */
function going(pieces: number) {
  const { source, go } = stalling(pieces);
  go();
  return source;
}

async function read(source: AsyncIterable<Uint8Array>, name: string, seen: string[]): Promise<void> {
  for await (const [n] of inTurn(source)) seen.push(`${name}${n}`);
}

describe('archives that are read in turn', () => {
  it('are read one after the other where all have come', async () => {
    const seen: string[] = [];
    async function* all() {
      for (let n = 0; n < 3; n += 1) yield bytes(n);
    }
    await Promise.all([read(all(), 'a', seen), read(all(), 'b', seen)]);
    expect(seen).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
  });

  it('do not wait for one that stands still, at its beginning or later', async () => {
    for (const pieces of [0, 1, 2]) {
      const seen: string[] = [];
      const first = stalling(pieces);
      const second = going(2);
      const reading = read(first.source, 'a', seen);
      await read(second, 'b', seen);
      expect(seen.filter((one) => one.startsWith('b'))).toEqual(['b0', 'b1', 'b2']);
      first.go();
      await reading;
      expect(seen.filter((one) => one.startsWith('a'))).toHaveLength(pieces + 1);
    }
  });

  it('do not wait for one that nobody takes', async () => {
    const seen: string[] = [];
    const [first, second] = [going(2), going(2)];
    const left = inTurn(first);
    await left.next();
    await read(second, 'b', seen);
    expect(seen).toEqual(['b0', 'b1', 'b2']);
    expect((await left.next()).value).toEqual(bytes(1));
    await left.return(undefined);
  });

  it('go on when the one before is given up', async () => {
    const seen: string[] = [];
    const first = inTurn(stalling(2).source);
    await first.next();
    const second = going(1);
    const reading = read(second, 'b', seen);
    await first.return(undefined);
    await reading;
    expect(seen).toEqual(['b0', 'b1']);
  });

  it('go on when the one before breaks', async () => {
    const seen: string[] = [];
    async function* broken() {
      yield bytes(0);
      throw new Error('The connection broke.');
    }
    const second = going(1);
    const reading = read(broken(), 'a', seen);
    await Promise.all([expect(reading).rejects.toThrow('The connection broke.'), read(second, 'b', seen)]);
    expect(seen).toEqual(['a0', 'b0', 'b1']);
  });

  it('wait until what came of the one before has been written', async () => {
    const seen: string[] = [];
    const [first, second] = [going(1), going(1)];
    await read(first, 'a', seen);
    const writing = new WritingTurn();
    const reading = read(second, 'b', seen);
    for (let n = 0; n < 20; n += 1) {
      writing.goOn();
      await new Promise((resolve) => setImmediate(resolve));
    }
    seen.push('written');
    writing.end();
    await reading;
    expect(seen).toEqual(['a0', 'a1', 'written', 'b0', 'b1']);
  });

  it('do not wait for an answer that nobody takes, or nobody writes', async () => {
    for (const begin of [() => new WritingTurn().goOn(), () => undefined]) {
      const seen: string[] = [];
      const [first, second] = [going(1), going(1)];
      await read(first, 'a', seen);
      begin();
      await read(second, 'b', seen);
      expect(seen).toEqual(['a0', 'a1', 'b0', 'b1']);
    }
  });

  it('wait for the writing of one answer, not of any other', async () => {
    const seen: string[] = [];
    const first = going(1);
    await read(first, 'a', seen);
    const [writing, other] = [new WritingTurn(), new WritingTurn()];
    writing.goOn();
    other.goOn();
    const second = going(1);
    const reading = read(second, 'b', seen);
    other.end();
    await new Promise((resolve) => setImmediate(resolve));
    seen.push('written');
    writing.end();
    await reading;
    expect(seen).toEqual(['a0', 'a1', 'written', 'b0', 'b1']);
  });
});
