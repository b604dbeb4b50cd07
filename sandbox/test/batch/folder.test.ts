// The thread that folds: what it answers, and that its end holds nothing up.
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createFolder, type Folder } from '../../src/batch/folder.ts';

let folder: Folder;
afterEach(() => folder.close());

const order = (sequences: unknown[], repeatIndex = 0) => ({
  request: JSON.stringify({
    model: 'm',
    input: { sequences },
    includePae: true,
    includePairChainsIptm: false,
    includeEmbeddings: false,
  }),
  repeatIndex,
  createdAt: '2026-06-01T00:00:00.000Z',
});
const chain = (sequence: string) => ({ type: 'protein', id: 'A', sequence });

test('the same order gives the same bytes, another repeat others', async () => {
  folder = createFolder();
  const [one, two, other] = await Promise.all(
    [0, 0, 1].map((repeat) => folder.fold(order([chain('MKTAYIAKQR')], repeat))),
  );
  expect(two).toEqual(one);
  expect(other).not.toEqual(one);
  const [response] = one !== undefined && 'outputs' in one ? one.outputs : [];
  expect(JSON.parse(gunzipSync(response?.gzipped ?? '').toString())).toMatchObject({
    created: '2026-06-01T00:00:00.000Z',
  });
});

test('an order that breaks the process is answered with an error, and the next one is folded', async () => {
  folder = createFolder();
  const broken = await folder.fold({ request: '{', repeatIndex: 0, createdAt: '' });
  expect(broken).toEqual({ error: expect.stringContaining('internal_error') });
  expect(await folder.fold(order([chain('MK')]))).toHaveProperty('outputs');
});

test('closing it ends what it is at', async () => {
  folder = createFolder();
  const long = folder.fold(order([chain('MKTAYIAKQR'.repeat(200))]));
  const next = folder.fold(order([chain('MK')]));
  await new Promise((resolve) => setTimeout(resolve, 150));
  await folder.close();
  expect(await long).toHaveProperty('error');
  expect(await next).toEqual({ error: expect.stringContaining('shutting down') });
});
