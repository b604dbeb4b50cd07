// The head of the PDB files of the Atlas: ours, whichever answer of the service the atoms came from.
// Readers that expect a whole PDB file want HEADER first and a unit cell.
import type { PlddtUnit } from './plddt-scale.ts';

export interface PdbHead {
  readonly hash: string;
  /** 0 to 1; null where no answer states it. */
  readonly ptm: number | null;
  /** 0 to 1; null where no answer states it. */
  readonly meanPlddt: number | null;
  /** The scale on which the file has pLDDT. */
  readonly unit: PlddtUnit;
}

const COLUMNS = 80;
const NEWLINE = 0x0a;
const COORDINATES = /^(?:ATOM {2}|HETATM|MODEL )/;
/** What the head of the service may say and ours says instead. Other remarks stay, such as the licence. */
const REPLACED = /^(?:HEADER|TITLE |CRYST1|REMARK +(?:\d+ +)?(?:ptm|mean_plddt)\b)/;
/** A model has no unit cell: the format wants one of 1 Å. */
const NO_CELL = 'CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1';

const scoreLine = (name: string, value: number | null): string[] =>
  value === null ? [] : [`REMARK   1 ${name} ${Number(value.toFixed(4))}`];

/** The PDB text with our head in place of the service's, whose other remarks stay. */
export function writePdbHead(pdb: Uint8Array, { hash, ptm, meanPlddt, unit }: PdbHead): Uint8Array {
  const text = Buffer.from(pdb.buffer, pdb.byteOffset, pdb.byteLength);
  const kept: string[] = [];
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf(NEWLINE, start);
    const end = found === -1 ? text.length : found;
    const line = text.toString('utf8', start, end).trimEnd();
    if (COORDINATES.test(line)) break;
    if (line !== '' && !REPLACED.test(line)) kept.push(line);
    start = end + 1;
  }
  const head = [
    'HEADER    COMPUTED MODEL',
    `TITLE     PROTEIN ${hash}`,
    ...scoreLine('ptm', ptm),
    ...scoreLine('mean_plddt', meanPlddt !== null && unit === 'PERCENT' ? meanPlddt * 100 : meanPlddt),
    ...kept,
    NO_CELL,
  ];
  const lines = head.map((line) => `${line.padEnd(COLUMNS)}\n`).join('');
  return Buffer.concat([Buffer.from(lines), text.subarray(start)]);
}
