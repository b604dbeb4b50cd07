/**
 * PDB text of a protein model in the two forms that the Atlas serves.
 */
import type { ProteinModel } from './protein.ts';

const NO_PREDICTION = 'REMARK   1 GEOMETRIC STAND-IN MADE BY THE FOLDATLAS SANDBOX. NO PREDICTION.';
const REMARKS = [
  NO_PREDICTION,
  'REMARK   1 IDEAL GEOMETRY ON SECONDARY STRUCTURE GUESSED FROM THE SEQUENCE.',
  'REMARK   1 THE B-FACTOR COLUMN HOLDS THE STAND-IN PLDDT ON A SCALE OF 0 TO 1.',
  'REMARK   1 FREE TO USE FOR ANY PURPOSE, NOT FIT FOR CONCLUSIONS ABOUT BIOLOGY.',
];

/**
 * The text that is the same in every line: the record, chain A in column 22, the occupancy, and
 * blanks.
 */
const LINE = Buffer.from(`${'ATOM'.padEnd(21)}${'A'.padEnd(35)}${'1.00'.padEnd(22)}\n`);
const [BLANK, ZERO, MINUS, POINT] = [32, 48, 45, 46];

/** Writes the digits of a whole number up to column `end`, and gives the column of the first. */
function putDigits(line: Buffer, end: number, value: number): number {
  let at = end;
  let rest = value;
  do {
    const tens = Math.floor(rest / 10);
    line[--at] = ZERO + rest - 10 * tens;
    rest = tens;
  } while (rest > 0);
  return at;
}

function putWhole(line: Buffer, start: number, end: number, value: number): void {
  for (let at = putDigits(line, end, value); at > start; ) line[--at] = BLANK;
}

/** Writes a coordinate with its three decimals into eight columns. */
function putCoordinate(line: Buffer, start: number, value: number): void {
  const all = Math.round(Math.abs(value) * 1000);
  const whole = Math.floor(all / 1000);
  // With a thousand more, the leading zeros of the decimals are written; the point replaces the
  // thousand's one.
  let at = putDigits(line, start + 8, 1000 + all - 1000 * whole);
  line[at] = POINT;
  at = putDigits(line, at, whole);
  if (value < 0 && all > 0) line[--at] = MINUS;
  while (at > start) line[--at] = BLANK;
}

function putText(line: Buffer, start: number, end: number, text: string): void {
  for (let k = 0; k < end - start; k++) line[start + k] = k < text.length ? text.charCodeAt(k) : BLANK;
}

/**
 * The lines of all atoms, whose elements have one letter each and whose names at most three. Serial
 * and residue numbers that outgrow their columns start again at 0, as common writers do.
 */
function atomLines(model: ProteinModel): string {
  const count = model.residues.reduce((sum, { atoms }) => sum + atoms.length, 0);
  const text = Buffer.allocUnsafe(count * LINE.length);
  const line = Buffer.from(LINE);
  let serial = 0;
  for (const [i, residue] of model.residues.entries()) {
    putText(line, 17, 20, residue.name);
    putWhole(line, 22, 26, (i + 1) % 10_000);
    putText(line, 60, 66, (model.plddt[i] ?? 0).toFixed(2).padStart(6));
    for (const { name, element, x, y, z } of residue.atoms) {
      putWhole(line, 6, 11, (serial + 1) % 100_000);
      // Names of one-letter elements start in the second of the four columns, as the format wants.
      putText(line, 13, 16, name);
      putCoordinate(line, 30, x);
      putCoordinate(line, 38, y);
      putCoordinate(line, 46, z);
      putText(line, 77, 78, element);
      text.set(line, serial * LINE.length);
      serial++;
    }
  }
  return text.toString('latin1');
}

/** The single-record form: four REMARK lines, then chain A from residue 1; no TER and no END. */
export const proteinPdb = (model: ProteinModel): string => `${REMARKS.join('\n')}\n${atomLines(model)}`;

/**
 * The zip-member form: `REMARK ptm`, `REMARK mean_plddt`, that it is no prediction, then ATOM
 * lines.
 */
export const bulkPdb = (model: ProteinModel): string =>
  `REMARK ptm ${model.ptm}\nREMARK mean_plddt ${model.meanPlddt}\n${NO_PREDICTION}\n${atomLines(model)}`;
