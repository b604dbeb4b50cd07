// Responses that are stored: bounded by their bytes, gone when they are too old, and whatever is asked for stays.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResponseStore } from '../../src/http/response-cache.ts';

const answer = (bytes: number, text = 'x') => ({
  headers: [],
  body: Buffer.alloc(bytes, text),
  etag: undefined,
  isPublic: true,
  operationName: null,
});
const MEGABYTE = 1_000_000;

function openKeptAnswers(maxBytes: number, now?: () => number) {
  const store = createResponseStore(maxBytes, now);
  return {
    get: store.get,
    set: (key: string, body: ReturnType<typeof answer>, seconds: number) =>
      store.settle(store.begin(key), body, seconds),
  };
}

describe('kept answers', () => {
  it('are given until their time is over', () => {
    let now = 1_000;
    const kept = openKeptAnswers(MEGABYTE, () => now);
    kept.set('key', answer(10), 60);
    now = 61_000;
    expect(kept.get('key')?.body.byteLength).toBe(10);
    now = 61_001;
    expect(kept.get('key')).toBeUndefined();
    kept.set('key', answer(20), 0);
    expect(kept.get('key')).toBeUndefined();
  });

  it('never take more bytes than they may, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 80_000 })), {
          maxLength: 200,
        }),
        (sets) => {
          const kept = openKeptAnswers(MEGABYTE);
          const last = new Map<string, number>();
          for (const [id, bytes] of sets) {
            // A key holds the whole question.
            const key = `${id}`.padEnd(id * 1_000);
            kept.set(key, answer(bytes), 60);
            last.set(key, bytes);
          }
          const held = [...last].map(([key, bytes]) => ({ key, bytes, found: kept.get(key) }));
          // What is given is what was put in last, and all of it together is no more than is allowed.
          for (const { bytes, found } of held)
            if (found !== undefined) expect(found.body.byteLength).toBe(bytes);
          const sum = held.reduce(
            (total, { key, found }) => total + (found === undefined ? 0 : key.length + found.body.byteLength),
            0,
          );
          expect(sum).toBeLessThanOrEqual(MEGABYTE);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('outlive a flood of others when they are asked for now and then', () => {
    const kept = openKeptAnswers(MEGABYTE);
    kept.set('asked for', answer(100), 60);
    kept.set('forgotten', answer(100), 60);
    for (let i = 0; i < 300; i += 1) {
      kept.set(`flood ${i}`, answer(10_000), 60);
      if (i % 20 === 0) expect(kept.get('asked for')).toBeDefined();
    }
    expect(kept.get('asked for')).toBeDefined();
    expect(kept.get('forgotten')).toBeUndefined();
  });

  it('give way to what was made later, even where that is too large to be kept', () => {
    const kept = openKeptAnswers(MEGABYTE);
    kept.set('key', answer(10), 60);
    kept.set('key', answer(MEGABYTE / 4), 60);
    expect(kept.get('key')).toBeUndefined();
  });

  it('are none where none may be kept', () => {
    const kept = openKeptAnswers(0);
    kept.set('key', answer(1), 60);
    expect(kept.get('key')).toBeUndefined();
  });
});
