// Structure files of a folding result.
import { writeMmcif } from '../mmcif.ts';
import type { ModelAtom, ModelResidue, StructureFile, StructureModel } from '../model.ts';
import { findPdbLimit, writePdb } from '../pdb-text.ts';
import { findResidue } from '../residues.ts';
import { type ConfidenceFile, joinPieces, NO_PAE } from './confidence-files.ts';
import { type DeclaredBond, findDeclaredPairs } from './declared-bonds.ts';
import type { FoldedComplex, Numbers } from './fields.ts';
import type { Matrix } from './matrix.ts';
import { pairwiseErrors } from './pairwise-errors.ts';
import type { FoldingResult, TokenPlddt } from './result.ts';
import { atomElement, atomRange, readPosition, readWord } from './rows.ts';

const NO_CONFIDENCES = 'The confidences in the result do not fit its tokens or their scale and are left out.';

const toPercent = (unit: number): number => Number((unit * 100).toPrecision(12));

/**
 * Reads the atoms of one token that have a position; a name that comes twice gets a number.
 *
 * @param confidence - of the token, 0 to 100: the B-factor of atoms without a value of their own
 */
function readAtoms(
  complex: FoldedComplex,
  token: number,
  confidence: number | null,
  units: Numbers,
): ModelAtom[] {
  const [start, end] = atomRange(complex, token);
  const used = new Set<string>();
  const atoms: ModelAtom[] = [];
  for (let k = start; k < end; k++) {
    const position = readPosition(complex.atomPositions[k]);
    if (position === undefined) continue;
    const given = readWord(complex.atomNames[k]);
    const element = atomElement(complex, token, k);
    const unit = units[k] ?? null;
    const b = (unit === null ? confidence : toPercent(unit)) ?? 0;
    let name = given || element;
    for (let n = 1; used.has(name); n++) name = `${given || element}${n}`;
    used.add(name);
    const [x, y, z] = position;
    atoms.push({ name, element, x, y, z, occupancy: 1, b });
  }
  return atoms;
}

function toModelResidue(
  complex: FoldedComplex,
  token: number,
  plddt: TokenPlddt,
  about: { readonly isLigand: boolean; readonly number: number },
): ModelResidue {
  const unit = plddt.tokens[token] ?? null;
  const confidence = unit === null ? null : toPercent(unit);
  const name = readWord(complex.sequence[token]) || 'UNK';
  return {
    name,
    number: about.number,
    insertion: '',
    // Some services leave `atom_hetero` false for modified residues.
    hetero: about.isLigand || findResidue(name)?.standard !== true,
    confidence,
    atoms: readAtoms(complex, token, confidence, plddt.atoms),
  };
}

/** B-factors and confidences are pLDDT, 0 to 100; residues are numbered from 1 in each chain. */
function toStructureModel(
  fold: FoldingResult,
  complex: FoldedComplex,
  declared: readonly DeclaredBond[],
): StructureModel {
  const { misfits, plddt, model } = fold;
  const leftOut = [misfits.ptm, misfits.iptm, misfits.chainPairs].filter((reason) => reason !== null);
  const scores = [
    { name: 'pLDDT', value: fold.meanPlddt === null ? null : toPercent(fold.meanPlddt) },
    { name: 'pTM', value: fold.ptm },
    { name: 'ipTM', value: fold.iptm },
  ] as const;
  const chains = fold.chains.map((chain) => ({
    ...chain,
    residues: Array.from({ length: chain.tokenEnd - chain.tokenStart }, (_, k) =>
      toModelResidue(complex, chain.tokenStart + k, plddt, {
        isLigand: chain.kind === 'ligand',
        number: k + 1,
      }),
    ),
  }));
  return {
    id: complex.id ?? 'fold',
    title: model === null ? 'Predicted structure' : `Structure predicted by ${model}`,
    software: model ?? 'unknown',
    hasAtomConfidences: plddt.atoms.length > 0,
    warnings: [
      ...fold.warnings,
      ...leftOut.map((reason) => `Scores that cannot be trusted are left out. ${reason}`),
      ...(misfits.plddt === null ? [] : [NO_CONFIDENCES]),
    ],
    chains,
    declaredBonds: findDeclaredPairs(complex, chains, declared),
    scores: scores.flatMap(({ name, value }) => (value === null ? [] : [{ name, value }])),
  };
}

/** Reads the structure of a result, or says why it has none. */
function readModel(fold: FoldingResult, declared: readonly DeclaredBond[]): StructureModel | string {
  const { complex, atomCount, misfits } = fold;
  if (misfits.structure !== null) return misfits.structure;
  if (complex === undefined || atomCount === 0) return 'The result holds no structure.';
  return toStructureModel(fold, complex, declared);
}

/** The file of a structure before it is written, or why the format cannot hold it. */
type OpenFile =
  | { readonly ok: true; readonly write: () => StructureFile & { ok: true } }
  | { readonly ok: false; readonly reason: string };

/**
 * Opens the structure of a result as a file.
 *
 * @param declared - the bonds of its submission, which are written whatever their length
 */
export function openFoldFile(
  fold: FoldingResult,
  format: 'PDB' | 'MMCIF',
  declared: readonly DeclaredBond[] = [],
): OpenFile {
  const model = readModel(fold, declared);
  if (typeof model === 'string') return { ok: false, reason: model };
  const reason = format === 'PDB' ? findPdbLimit(model) : undefined;
  if (reason !== undefined) return { ok: false, reason };
  return { ok: true, write: () => (format === 'PDB' ? writePdb(model) : writeMmcif(model)) };
}

/** Writes the structure of a result, or says why the format cannot hold it. */
export function writeFoldFile(...args: Parameters<typeof openFoldFile>): StructureFile {
  const file = openFoldFile(...args);
  return file.ok ? file.write() : file;
}

function* withPairs(model: StructureModel, pae: Matrix): Generator<string> {
  yield writeMmcif(model).text;
  yield* pairwiseErrors(model, pae);
}

/** Writes the mmCIF file with the error of each pair of residues behind the atoms. */
export function writeMmcifWithPae(
  fold: FoldingResult,
  declared: readonly DeclaredBond[] = [],
): ConfidenceFile {
  const { pae } = fold;
  if (pae === null) return { ok: false, reason: NO_PAE };
  const read = readModel(fold, declared);
  if (typeof read === 'string') return { ok: false, reason: read };
  const model = { ...read, hasPae: true };
  return { ok: true, pieces: joinPieces(withPairs(model, pae)) };
}
