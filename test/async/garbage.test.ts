// What ends must be garbage of the young generation: whatever a long-lived structure keeps of it gets old, and waits for a full
// collection (CONTRIBUTING.md, Performance). Each structure here is long-lived itself, has entries come and go, and sees collections.
import { getHeapSpaceStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { createSingleFlight } from '../../src/async/single-flight.ts';
import { createPrivateField } from '../../src/private-field.ts';

const collect = (type: 'minor' | 'major') => {
  if (globalThis.gc === undefined) throw new Error('Tests run with --expose-gc (vitest.config.ts).');
  void globalThis.gc({ type });
};

const OLD = new Set(['old_space', 'large_object_space']);
const oldBytes = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name: name }) => OLD.has(name))
    .reduce((sum, { space_used_size: used }) => sum + used, 0);

/** Some 30 KB. */
const payload = () => Array.from({ length: 600 }, (_, n) => ({ n, half: n + 0.5 }));
const PAYLOAD_BYTES = 30_000;
const IN_FLIGHT = 16;
const ENDED = 1_024;
/** Longer than an entry is there. */
const BETWEEN_COLLECTIONS = 64;

type End = () => Promise<void> | void;

/** Begins and ends entries, always some at a time. @param begin - gives the end @returns bytes that got old */
async function churn(begin: (n: number) => End): Promise<number> {
  const ends: End[] = [];
  const step = async (n: number) => {
    ends.push(begin(n));
    if (ends.length > IN_FLIGHT) await ends.shift()?.();
  };
  for (let n = 0; n < 2 * IN_FLIGHT; n += 1) await step(n);
  collect('major');
  // What is there now gets old.
  for (let n = 0; n < 3; n += 1) collect('minor');
  const before = oldBytes();
  for (let n = 2 * IN_FLIGHT; n < ENDED; n += 1) {
    await step(n);
    if (n % BETWEEN_COLLECTIONS === 0) collect('minor');
  }
  const after = oldBytes();
  while (ends.length > 0) await ends.shift()?.();
  return after - before;
}

/** Of all that ended, a tenth. */
const MOST = (ENDED * PAYLOAD_BYTES) / 10;

describe('of what has ended, nothing gets old', () => {
  it('that was a shared call', async () => {
    const singleFlight = createSingleFlight();
    const grown = await churn((n) => {
      let end: (value: unknown) => void = () => undefined;
      const read = () =>
        new Promise((resolve) => {
          end = resolve;
        });
      const result = singleFlight(`call ${n}`, undefined, read);
      return async () => {
        end(payload());
        await result;
      };
    });
    expect(grown).toBeLessThan(MOST);
  });

  it('that was a note about an object', async () => {
    const notes = createPrivateField<object, unknown>();
    const grown = await churn((n) => {
      const request = { n };
      notes.set(request, payload());
      return () => void notes.get(request);
    });
    expect(grown).toBeLessThan(MOST);
  });
});
