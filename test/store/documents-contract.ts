// What every store of shared documents must keep to: versions, age limits, leases. A store runs this suite over a function that opens it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LeasedDocumentStore } from '../../src/store/documents.ts';

/** Longer than a test takes: Redis ends leases by its own clock as well. */
const MINUTE_MS = 60_000;

/** A place that documents can be opened on again and again. */
export interface DocumentsPlace {
  open(now: () => number): LeasedDocumentStore;
  remove(): Promise<void>;
}

/** @param shared - whether several openers see the same */
export function documentsContract(
  name: string,
  openPlace: () => Promise<DocumentsPlace>,
  shared: boolean,
): void {
  describe(`documents: ${name}`, () => {
    let place: DocumentsPlace;
    let documents: LeasedDocumentStore;
    let time = 1_000_000;
    const now = () => time;
    beforeEach(async () => {
      time = 1_000_000;
      place = await openPlace();
      documents = place.open(now);
    });
    afterEach(async () => {
      await documents.close();
      await place.remove();
    });

    const expiresAt = () => time + 1000;

    it('gives back what was put, with a version that grows', async () => {
      expect(await documents.get('a')).toBeNull();
      expect(await documents.put('a', 'one', { expiresAt: expiresAt() })).toBe(1);
      expect(await documents.put('a', 'two\u{1f9ec}', { expiresAt: expiresAt() })).toBe(2);
      expect(await documents.get('a')).toEqual({ text: 'two\u{1f9ec}', version: 2 });
      expect(await documents.get('a', 2)).toBe('same');
      expect(await documents.get('a', 1)).toEqual({ text: 'two\u{1f9ec}', version: 2 });
    });

    it('lets only the writer through who knows what stands there', async () => {
      const options = { expiresAt: expiresAt() };
      expect(await documents.put('a', 'x', { ...options, expected: 1 })).toBeNull();
      expect(await documents.put('a', 'one', { ...options, expected: 0 })).toBe(1);
      expect(await documents.put('a', 'again', { ...options, expected: 0 })).toBeNull();
      expect(await documents.put('a', 'two', { ...options, expected: 1 })).toBe(2);
      expect(await documents.put('a', 'late', { ...options, expected: 1 })).toBeNull();
      expect(await documents.get('a')).toEqual({ text: 'two', version: 2 });
    });

    it('forgets what is too old, and begins anew after it', async () => {
      await documents.put('a', 'one', { expiresAt: expiresAt() });
      await documents.put('a', 'two', { expiresAt: expiresAt() });
      time += 1000;
      expect(await documents.get('a')).toBeNull();
      expect(await documents.put('a', 'x', { expected: 2, expiresAt: expiresAt() })).toBeNull();
      expect(await documents.put('a', 'new', { expected: 0, expiresAt: expiresAt() })).toBe(1);
    });

    it('gives a lease to one at a time, until it runs out or is given back', async () => {
      expect(await documents.claim('work', 'a', MINUTE_MS)).toBe(true);
      expect(await documents.claim('work', 'b', MINUTE_MS)).toBe(false);
      time += MINUTE_MS - 1;
      expect(await documents.claim('work', 'a', MINUTE_MS)).toBe(true);
      time += MINUTE_MS - 1;
      expect(await documents.claim('work', 'b', MINUTE_MS)).toBe(false);
      await documents.release('work', 'b');
      expect(await documents.claim('work', 'b', MINUTE_MS)).toBe(false);
      time += 1;
      expect(await documents.claim('work', 'b', MINUTE_MS)).toBe(true);
      await documents.release('work', 'b');
      expect(await documents.claim('work', 'a', MINUTE_MS)).toBe(true);
    });

    it('lets racing writers through one at a time', async () => {
      await documents.put('a', 'one', { expiresAt: expiresAt() });
      const racing = Array.from({ length: 20 }, (_, i) =>
        documents.put('a', String(i), { expected: 1, expiresAt: expiresAt() }),
      );
      expect((await Promise.all(racing)).filter((version) => version !== null)).toEqual([2]);
    });

    it('says whether others may write too', () => expect(documents.isShared).toBe(shared));

    if (shared) {
      it('is the same for two openers, and outlives them', async () => {
        const two = place.open(now);
        expect(await documents.put('a', 'from one', { expected: 0, expiresAt: expiresAt() })).toBe(1);
        expect(await two.put('a', 'from two', { expected: 1, expiresAt: expiresAt() })).toBe(2);
        expect(await documents.put('a', 'late', { expected: 1, expiresAt: expiresAt() })).toBeNull();
        expect(await documents.claim('l', 'one', 50)).toBe(true);
        expect(await two.claim('l', 'two', 50)).toBe(false);
        await Promise.all([documents.close(), two.close()]);
        documents = place.open(now);
        expect(await documents.get('a')).toEqual({ text: 'from two', version: 2 });
      });
    }
  });
}
