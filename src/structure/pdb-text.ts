// Writes a structure as PDB text, within the limits of its columns.
import type { ModelAtom, ModelChain, ModelResidue, StructureFile, StructureModel } from './model.ts';
import { findStandardParent } from './residues.ts';

/** Length of every record. */
const COLUMNS = 80;
const MAX_ATOMS = 99_999;
const MAX_RESIDUES = 9_999;

/** One-letter elements start in the second of the four columns, as the format wants. */
const atomNameColumns = ({ name, element }: ModelAtom): string =>
  element.length === 1 && name.length < 4 ? ` ${name}`.padEnd(4) : name.padEnd(4);

function atomLine(serial: number, chain: ModelChain, residue: ModelResidue, atom: ModelAtom): string {
  const place = [atom.x, atom.y, atom.z].map((v) => v.toFixed(3).padStart(8)).join('');
  return [
    residue.hetero ? 'HETATM' : 'ATOM  ',
    String(serial).padStart(5),
    ` ${atomNameColumns(atom)} ${residue.name.padStart(3)} ${chain.id}`,
    `${String(residue.number).padStart(4)}${residue.insertion.padEnd(1)}   ${place}`,
    `${atom.occupancy.toFixed(2).padStart(6)}${atom.b.toFixed(2).padStart(6)}`,
    `          ${atom.element.padStart(2)}`,
  ].join('');
}

/** Why the columns are too narrow; undefined when they are not. */
function findLimit({ chains }: StructureModel): string | undefined {
  const residues = chains.flatMap((chain) => chain.residues);
  const polymers = chains.filter(({ kind }) => kind !== 'ligand').length;
  const atoms = residues.reduce((sum, residue) => sum + residue.atoms.length, 0) + polymers;
  if (atoms > MAX_ATOMS)
    return `PDB files hold at most ${MAX_ATOMS} atoms and chain ends; here are ${atoms}.`;
  const long = chains.find(({ id }) => !/^[\x21-\x7e]$/.test(id));
  if (long !== undefined)
    return `PDB files name chains by one letter; here is a chain named ${JSON.stringify(long.id)}.`;
  const twice = chains.find(({ id }, k) => chains.findIndex((other) => other.id === id) !== k);
  if (twice !== undefined) return `Two chains are named ${twice.id}.`;
  const high = residues.find(({ number }) => number > MAX_RESIDUES || number < -999);
  if (high !== undefined)
    return `PDB files number residues up to ${MAX_RESIDUES}; here is residue ${high.number}.`;
  const wide = residues.find(({ name }) => name.length > 3);
  if (wide !== undefined)
    return `PDB files name components by three letters; here is ${JSON.stringify(wide.name)}.`;
  const all = residues.flatMap((residue) => residue.atoms);
  const odd = all.find(({ name, element }) => name.length > 4 || element.length > 2);
  if (odd !== undefined) return `PDB files name atoms by four letters; here is ${JSON.stringify(odd.name)}.`;
  const far = all.some(({ x, y, z }) => [x, y, z].some((v) => v <= -999.9995 || v >= 9999.9995));
  return far
    ? 'PDB files hold coordinates from -999.999 to 9999.999 ångström; here is one outside.'
    : undefined;
}

/** REMARK 1 lines of at most 80 columns, cut at spaces where there are any. */
function toRemarks(warnings: readonly string[]): string[] {
  const lines = warnings.flatMap(
    (warning) => warning.replace(/[^\n\x20-\x7e]/gu, '?').match(/[^\n]{1,69}(?: |$)|[^\n]{1,69}/gm) ?? [],
  );
  return lines.map((line) => `REMARK   1 ${line.trimEnd()}`);
}

const RESIDUES_PER_LINE = 13;

/** SEQRES records of a polymer. */
function sequenceLines({ id, residues }: ModelChain): string[] {
  const count = String(residues.length).padStart(4);
  return Array.from({ length: Math.ceil(residues.length / RESIDUES_PER_LINE) }, (_, k) => {
    const names = residues
      .slice(k * RESIDUES_PER_LINE, (k + 1) * RESIDUES_PER_LINE)
      .map(({ name }) => name.padStart(3));
    return `SEQRES ${String(k + 1).padStart(3)} ${id} ${count}  ${names.join(' ')}`;
  });
}

/** MODRES records of a polymer: its modified residues with their standard ones. */
const modifiedResidueLines = ({ id, residues }: ModelChain): string[] =>
  residues.flatMap(({ name, number, insertion }) => {
    const parent = findStandardParent(name);
    if (parent === undefined) return [];
    const place = `${name.padStart(3)} ${id} ${String(number).padStart(4)}${insertion.padEnd(1)}`;
    return [`MODRES      ${place} ${parent.padStart(3)}  MODIFIED RESIDUE`];
  });

/** Writes the file, or says why the format cannot hold the structure. */
export function writePdb(model: StructureModel): StructureFile {
  const reason = findLimit(model);
  if (reason !== undefined) return { ok: false, reason };
  const lines = [
    ...toRemarks([model.title, ...model.warnings]),
    ...model.scores.map(({ name, value }) => `REMARK   1 ${name} ${Number(value.toFixed(4))}`),
  ];
  const polymers = model.chains.filter(({ kind }) => kind !== 'ligand');
  for (const polymer of polymers) lines.push(...sequenceLines(polymer));
  for (const polymer of polymers) lines.push(...modifiedResidueLines(polymer));
  let serial = 0;
  let atomCount = 0;
  for (const chain of model.chains) {
    for (const residue of chain.residues) {
      for (const atom of residue.atoms) {
        lines.push(atomLine(++serial, chain, residue, atom));
        atomCount += 1;
      }
    }
    const last = chain.residues.at(-1);
    if (chain.kind !== 'ligand' && last !== undefined) {
      const end = `${last.name.padStart(3)} ${chain.id}${String(last.number).padStart(4)}${last.insertion}`;
      lines.push(`TER   ${String(++serial).padStart(5)}      ${end}`.trimEnd());
    }
  }
  lines.push('END');
  return { ok: true, text: `${lines.map((line) => line.padEnd(COLUMNS)).join('\n')}\n`, atomCount };
}
