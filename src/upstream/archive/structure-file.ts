// Reads `structures/{hash}.pdb` of a bulk archive: its scores stand in remarks before the atoms.
import * as z from 'zod';
import { LazyText, toBuffer } from '../../structure/lazy-text.ts';
import { hasAtoms, readResidueLetters } from '../../structure/pdb.ts';
import { meanPlddt, share } from '../wire-values.ts';
import { ArchiveError } from './archive-limits.ts';

export interface ArchivedStructure {
  /** Whether the text has the remark with the pTM. */
  readonly statesPtm: boolean;
  readonly ptm: number | null;
  readonly statedMean: number | null;
  /** Whether there is more than remarks. */
  readonly hasAtoms: boolean;
  /** Residues with atoms, read while the text is in the processor's cache. */
  readonly residues: string;
  readonly text: LazyText;
}

const PTM = /^REMARK +(?:\d+ +)?ptm[ :=]+([-+.\deE]+) *\r?$/m;
const MEAN_PLDDT = /^REMARK +(?:\d+ +)?mean_plddt[ :=]+([-+.\deE]+) *\r?$/m;

function remark(pdb: string, pattern: RegExp): number | null {
  const value = Number(pattern.exec(pdb)?.[1] ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}

const scores = z.object({ ptm: share, mean_plddt: meanPlddt });

/** @throws ArchiveError for a score outside its range */
function readScores(remarks: string) {
  const given = { ptm: remark(remarks, PTM), mean_plddt: remark(remarks, MEAN_PLDDT) };
  const { data, error } = scores.safeParse(given);
  if (error !== undefined) throw new ArchiveError(`A score is out of range: ${error.issues[0]?.message}.`);
  return { ptm: data.ptm ?? null, mean: data.mean_plddt ?? null };
}

/** @throws ArchiveError for a score outside its range */
export function readStructureFile(pdb: Uint8Array): ArchivedStructure {
  const bytes = toBuffer(pdb);
  const atoms = bytes.indexOf('\nATOM');
  const remarks = bytes.toString('latin1', 0, atoms === -1 ? bytes.length : atoms);
  const { ptm, mean } = readScores(remarks);
  return {
    statesPtm: remarks.includes(' ptm'),
    ptm,
    statedMean: mean,
    hasAtoms: atoms !== -1 || hasAtoms(remarks),
    residues: readResidueLetters(bytes),
    text: new LazyText(bytes.length, () => bytes),
  };
}
