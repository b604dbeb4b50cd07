// The NumPy archive: read back by its format, byte for byte.
import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { toMatrix } from '../../src/structure/fold/matrix.ts';
import { npz } from '../../src/structure/fold/npz.ts';

function matrix(rows: unknown[]) {
  const read = toMatrix(rows);
  if (read === undefined) throw new Error('no matrix');
  return read;
}

/** Reads one .npy file of version 1.0 as numpy.lib.format describes it. */
function readNpy(bytes: Uint8Array | undefined): { shape: number[]; values: number[] } {
  const file = Buffer.from(bytes ?? []);
  expect(file.subarray(0, 8).toString('latin1')).toBe('\x93NUMPY\x01\x00');
  const length = file.readUInt16LE(8);
  expect((10 + length) % 64).toBe(0);
  const header = file.subarray(10, 10 + length).toString('latin1');
  expect(header.endsWith('\n')).toBe(true);
  const [, shape] =
    /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(([\d, ]+)\), \} *\n$/.exec(header) ?? [];
  const values: number[] = [];
  for (let at = 10 + length; at < file.byteLength; at += 4) values.push(file.readFloatLE(at));
  return { shape: (shape ?? '').split(',').map(Number), values };
}

describe('an archive of matrices', () => {
  it('holds shapes and values, with NaN for what is no number', async () => {
    const files = unzipSync(
      await npz({
        sequence: matrix([
          [1, 2.5, -3],
          [4, null, 6],
        ]),
        pair_pooled: matrix([[0.5]]),
      }),
    );
    expect(Object.keys(files)).toEqual(['sequence.npy', 'pair_pooled.npy']);
    expect(readNpy(files['sequence.npy'])).toEqual({ shape: [2, 3], values: [1, 2.5, -3, 4, Number.NaN, 6] });
    expect(readNpy(files['pair_pooled.npy'])).toEqual({ shape: [1, 1], values: [0.5] });
  });

  it('is the same bytes for the same content', async () => {
    const content = { sequence: matrix(Array.from({ length: 40 }, (_, i) => [i, i / 3])) };
    expect(await npz(content)).toEqual(await npz(content));
  });
});
