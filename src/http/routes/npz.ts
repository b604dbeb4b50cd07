// Writes matrices as a NumPy archive: a zip of .npy files of 32-bit floats.
import { zipSync } from 'fflate';

/** A matrix as JSON gave it; what is not a number becomes NaN. */
export type Rows = readonly unknown[];

const widthOf = (rows: Rows): number => (Array.isArray(rows[0]) ? rows[0].length : 1);

/** A matrix in NumPy format 1.0: a header padded to 64 bytes, then the values row by row. */
function npy(rows: Rows): Uint8Array {
  const width = widthOf(rows);
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows.length}, ${width}), }`;
  const padded = dictionary.padEnd(Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 11);
  const header = Buffer.from(`\x93NUMPY\x01\x00__${padded}\n`, 'latin1');
  header.writeUInt16LE(header.byteLength - 10, 8);
  const file = Buffer.alloc(header.byteLength + rows.length * width * 4);
  header.copy(file);
  let at = header.byteLength;
  for (const row of rows) {
    const cells: readonly unknown[] = Array.isArray(row) ? row : [row];
    for (let c = 0; c < width; c++, at += 4) {
      const value = cells[c];
      file.writeFloatLE(typeof value === 'number' ? value : Number.NaN, at);
    }
  }
  return file;
}

/** The archive, uncompressed: embeddings do not shrink. The same content gives the same bytes. */
export const npz = (matrices: Readonly<Record<string, Rows>>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(matrices).map(([name, rows]) => [`${name}.npy`, npy(rows)])), {
    level: 0,
    mtime: '1980-01-01T00:00:00',
  });
