// The contract of every store of shared documents: versions, lifetimes, leases. A store runs this
// suite over a function that opens it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentStore } from '../../src/store/documents.ts';

/** Longer than a test takes: Redis ends leases by its own clock as well. */
const MINUTE_MS = 60_000;

/** A place that documents can be opened on again and again. */
export interface DocumentsPlace {
  open(now: () => number): DocumentStore;
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
    let documents: DocumentStore;
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

    const second = { lifetimeMs: 1000 };

    it('gives back what was put, with a version that grows', async () => {
      expect(await documents.get('a')).toBeNull();
      expect(await documents.put('a', 'one', second)).toBe(1);
      expect(await documents.put('a', 'two\u{1f9ec}', second)).toBe(2);
      expect(await documents.get('a')).toEqual({ text: 'two\u{1f9ec}', version: 2 });
      expect(await documents.get('a', 2)).toBe('same');
      expect(await documents.get('a', 1)).toEqual({ text: 'two\u{1f9ec}', version: 2 });
    });

    it('lets only the writer through who knows what stands there', async () => {
      expect(await documents.put('a', 'x', { ...second, expected: 1 })).toBeNull();
      expect(await documents.put('a', 'one', { ...second, expected: 0 })).toBe(1);
      expect(await documents.put('a', 'again', { ...second, expected: 0 })).toBeNull();
      expect(await documents.put('a', 'two', { ...second, expected: 1 })).toBe(2);
      expect(await documents.put('a', 'late', { ...second, expected: 1 })).toBeNull();
      expect(await documents.get('a')).toEqual({ text: 'two', version: 2 });
    });

    it('forgets what is too old, and begins anew after it', async () => {
      await documents.put('a', 'one', second);
      await documents.put('a', 'two', second);
      time += 1000;
      expect(await documents.get('a')).toBeNull();
      expect(await documents.put('a', 'x', { ...second, expected: 2 })).toBeNull();
      expect(await documents.put('a', 'new', { ...second, expected: 0 })).toBe(1);
    });

    it('lists the keys that begin with a text, until their documents are gone', async () => {
      const listed = { isListed: true, ...second };
      await documents.put('mail/a/1', 'x', listed);
      await documents.put('mail/a/2', 'x', listed);
      await documents.put('mail/b/1', 'x', { ...listed, lifetimeMs: 500 });
      await documents.put('other', 'x', listed);
      expect((await documents.keys('mail/')).toSorted()).toEqual(['mail/a/1', 'mail/a/2', 'mail/b/1']);
      expect((await documents.keys('mail/a/')).toSorted()).toEqual(['mail/a/1', 'mail/a/2']);
      await documents.put('mail/a/1', '', { lifetimeMs: 0 });
      expect(await documents.get('mail/a/1')).toBeNull();
      time += 500;
      expect(await documents.keys('mail/')).toEqual(['mail/a/2']);
    });

    it('gives a lease to one at a time, until it runs out or is given back', async () => {
      const claim = () => documents.put('work', '', { expected: 0, lifetimeMs: MINUTE_MS });
      expect(await claim()).toBe(1);
      time += MINUTE_MS - 1;
      expect(await claim()).toBeNull();
      time += 1;
      expect(await claim()).toBe(1);
      expect(await documents.put('work', '', { expected: 1, lifetimeMs: 0 })).not.toBeNull();
      expect(await documents.get('work')).toBeNull();
      expect(await claim()).toBe(1);
    });

    it('lets racing writers through one at a time', async () => {
      await documents.put('a', 'one', second);
      const racing = Array.from({ length: 20 }, (_, i) =>
        documents.put('a', String(i), { ...second, expected: 1 }),
      );
      expect((await Promise.all(racing)).filter((version) => version !== null)).toEqual([2]);
    });

    it('says whether others may write too', () => expect(documents.isShared).toBe(shared));

    if (shared) {
      it('is the same for two openers, and outlives them', async () => {
        const two = place.open(now);
        expect(await documents.put('a', 'from one', { ...second, expected: 0 })).toBe(1);
        expect(await two.put('a', 'from two', { ...second, expected: 1 })).toBe(2);
        expect(await documents.put('a', 'late', { ...second, expected: 1 })).toBeNull();
        expect(await documents.put('l', '', { expected: 0, lifetimeMs: MINUTE_MS })).toBe(1);
        expect(await two.put('l', '', { expected: 0, lifetimeMs: MINUTE_MS })).toBeNull();
        await Promise.all([documents.close(), two.close()]);
        documents = place.open(now);
        expect(await documents.get('a')).toEqual({ text: 'from two', version: 2 });
      });
    }
  });
}
