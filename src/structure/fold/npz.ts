// Matrices as an archive of NumPy: one .npy file of 32-bit floats for each, uncompressed, because
// embeddings do not shrink.

import { createZipWriter } from '../zip-writer.ts';
import type { Matrix } from './matrix.ts';

/** A matrix in NumPy format 1.0: a header padded to 64 bytes, then the values row by row. */
function npy({ rowCount, columnCount, cells }: Matrix): Uint8Array {
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rowCount}, ${columnCount}), }`;
  const padded = dictionary.padEnd(Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 11);
  const header = Buffer.from(`\x93NUMPY\x01\x00__${padded}\n`, 'latin1');
  header.writeUInt16LE(header.byteLength - 10, 8);
  const values = Buffer.alloc(cells.length * 4);
  for (let i = 0; i < cells.length; i++) values.writeFloatLE(cells[i] ?? Number.NaN, i * 4);
  return Buffer.concat([header, values]);
}

/** The archive. The same content gives the same bytes. */
export async function npz(matrices: Readonly<Record<string, Matrix>>): Promise<Uint8Array> {
  const zip = createZipWriter({ modified: new Date('1980-01-01T00:00:00Z') });
  const pieces: Uint8Array[] = [];
  for (const [name, matrix] of Object.entries(matrices))
    pieces.push(...(await zip.entry(`${name}.npy`, npy(matrix), 'stored')));
  return Buffer.concat([...pieces, zip.end()]);
}
