// Bytes gathered for all threads: none is lost, whatever the sender promised and however they come.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openFoldResult } from '../../src/upstream/folds/open-fold-result.ts';
import { collectIntoSharedBuffer, toSharedBuffer } from '../../src/upstream/http/response-body.ts';

const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 });

it('all pieces are there in their order, whatever was promised', () => {
  fc.assert(
    fc.property(pieces, fc.nat(100_000), fc.nat(70_000), (small, promised, large) => {
      const all = [...small, new Uint8Array(large).fill(7), ...small];
      const shared = collectIntoSharedBuffer(promised);
      for (const piece of all) shared.add(piece);
      const bytes = shared.bytes();
      expect(bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect(Buffer.compare(bytes, Buffer.concat(all))).toBe(0);
    }),
  );
});

it('a promise of more than anybody sends makes no room for it', () => {
  const shared = collectIntoSharedBuffer(Number.MAX_SAFE_INTEGER);
  shared.add(new Uint8Array([1, 2]));
  expect([...shared.bytes()]).toEqual([1, 2]);
});

it('bytes that are shared are not copied, others are', () => {
  const shared = toSharedBuffer(new Uint8Array([1, 2, 3]).subarray(1));
  expect([...shared]).toEqual([2, 3]);
  expect(toSharedBuffer(shared)).toBe(shared);
});

it('a result is read from shared bytes as from any, here and in the thread, with and without a matrix', async () => {
  for (const text of [
    '{"pae":[[0.5,1],[2,NaN]],"ptm":0.5}',
    '{"ptm":0.5,"model":"é"}',
    '\ufeff{"ptm":0.5,"pae":1}',
  ])
    for (const threadAboveBytes of [0, 1e9]) {
      const own = await openFoldResult(Buffer.from(text), { threadAboveBytes });
      const shared = await openFoldResult(toSharedBuffer(Buffer.from(text)), { threadAboveBytes });
      expect(shared.summary).toEqual(own.summary);
      expect(await shared.raw()).toEqual(await own.raw());
      expect(await shared.paeBlock()).toEqual(await own.paeBlock());
    }
});
