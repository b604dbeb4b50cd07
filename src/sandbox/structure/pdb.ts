/** PDB text of a protein model in the two forms that the Atlas serves. Must not know how the model was made. */
import type { Atom, ProteinModel, ResidueModel } from './protein.ts';

const REMARKS = [
  'REMARK   1 GEOMETRIC STAND-IN MADE BY THE FOLDATLAS SANDBOX. NO PREDICTION.',
  'REMARK   1 IDEAL GEOMETRY ON SECONDARY STRUCTURE GUESSED FROM THE SEQUENCE.',
  'REMARK   1 THE B-FACTOR COLUMN HOLDS THE STAND-IN PLDDT ON A SCALE OF 0 TO 1.',
  'REMARK   1 FREE TO USE FOR ANY PURPOSE, NOT FIT FOR ANY CONCLUSION ABOUT BIOLOGY.',
];

/** Four columns for the name: one-letter elements start in the second, as the format wants. */
const atomName = ({ name, element }: Atom): string =>
  element.length === 1 && name.length < 4 ? ` ${name}`.padEnd(4) : name.padEnd(4);

/** Serial and residue numbers that outgrow their columns start again at 0, as common writers do. */
function atomLine(serial: number, residue: ResidueModel, number: number, atom: Atom, plddt: number): string {
  const place = [atom.x, atom.y, atom.z].map((v) => v.toFixed(3).padStart(8)).join('');
  const numbers = `${String(number % 10_000).padStart(4)}    ${place}${'1.00'.padStart(6)}${plddt.toFixed(2).padStart(6)}`;
  return `ATOM  ${String(serial % 100_000).padStart(5)} ${atomName(atom)} ${residue.name.padStart(3)} A${numbers}          ${atom.element.padStart(2)}`;
}

function atomLines(model: ProteinModel): string[] {
  let serial = 0;
  return model.residues.flatMap((residue, i) =>
    residue.atoms.map((atom) => atomLine(++serial, residue, i + 1, atom, model.plddt[i] ?? 0)),
  );
}

/** The single-record form: four REMARK lines, then chain A from residue 1; no TER and no END. */
export const proteinPdb = (model: ProteinModel): string =>
  `${[...REMARKS, ...atomLines(model)].join('\n')}\n`;

/** The zip-member form: `REMARK ptm`, `REMARK mean_plddt`, then ATOM lines. */
export const bulkPdb = (model: ProteinModel): string =>
  `${[`REMARK ptm ${model.ptm}`, `REMARK mean_plddt ${model.meanPlddt}`, ...atomLines(model)].join('\n')}\n`;
