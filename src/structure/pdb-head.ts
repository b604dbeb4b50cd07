// The head of the PDB files of the Atlas: ours, whichever answer of the service the atoms came
// from. Readers that expect a whole PDB file want HEADER first, disulfide bridges and a unit cell.
import { isBondLength } from './connections.ts';
import { distanceBetween } from './molecules.ts';
import { parsePdb } from './pdb.ts';
import { bridgeRecord, HEADER, NO_CELL, toPdbLines } from './pdb-records.ts';
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

const NEWLINE = 0x0a;
const COORDINATES = /^(?:ATOM {2}|HETATM|MODEL )/;
/** Parts of the service's head that ours replaces. Other remarks stay, such as the licence. */
const REPLACED = /^(?:HEADER|TITLE |CRYST1|SSBOND|REMARK +(?:\d+ +)?(?:ptm|mean_plddt)\b)/;

const scoreLine = (name: string, value: number | null): string[] =>
  value === null ? [] : [`REMARK   1 ${name} ${Number(value.toFixed(4))}`];

/** The sulfur of a cysteine, from column 13 of its line. */
const SULFUR = ' SG  CYS ';

/** SSBOND records of the disulfide bridges. */
function bridgeLines(text: Buffer, start: number): string[] {
  const lines: string[] = [];
  for (let at = text.indexOf(SULFUR, start); at !== -1; at = text.indexOf(SULFUR, at + SULFUR.length))
    lines.push(text.toString('latin1', at - 12, text.indexOf(NEWLINE, at)));
  if (lines.length < 2) return [];
  const { residues } = parsePdb(lines.join('\n'));
  const records: string[] = [];
  for (const [k, a] of residues.entries())
    for (const b of residues.slice(k + 1)) {
      const [[one], [two]] = [a.atoms, b.atoms];
      if (one === undefined || two === undefined) continue;
      const distance = distanceBetween(one, two);
      if (isBondLength(one, two, distance)) records.push(bridgeRecord(records.length + 1, a, b, distance));
    }
  return records;
}

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
    HEADER,
    `TITLE     PROTEIN ${hash}`,
    ...scoreLine('ptm', ptm),
    ...scoreLine('mean_plddt', meanPlddt !== null && unit === 'PERCENT' ? meanPlddt * 100 : meanPlddt),
    ...kept,
    ...bridgeLines(text, start),
    NO_CELL,
  ];
  return Buffer.concat([Buffer.from(toPdbLines(head)), text.subarray(start)]);
}
