// Lists that are sent while they are loaded: every item once, in order, however late the loader reports the last of them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { incrementalList } from '../../src/resolvers/atlas/load-protein.ts';
import type { LoadResult } from '../../src/upstream/proteins/protein-loader.ts';

it('has each item once, also where the last report comes after the whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 8 }),
      fc.nat({ max: 8 }),
      fc.nat({ max: 6 }),
      async (early, late, delay) => {
        const all = Array.from({ length: early + late }, (_, i): LoadResult => new Error(String(i)));
        const list = incrementalList(
          async (onNext) => {
            if (early > 0) onNext(all.slice(0, early));
            let pause: Promise<void> = Promise.resolve();
            for (let i = 0; i < delay; i += 1) pause = pause.then(() => undefined);
            void pause.then(() => onNext(all.slice(early)));
            return all;
          },
          (found) => found.map(String),
        );
        const seen: unknown[] = [];
        for await (const item of list) seen.push(item);
        expect(seen).toEqual(all.map(String));
      },
    ),
  );
});
