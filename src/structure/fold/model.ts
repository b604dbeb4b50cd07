// Converts a folding result to the structure that the file writers take.
import type { ModelAtom, ModelResidue, StructureModel } from '../model.ts';
import { residueOf } from '../residues.ts';
import type { FoldedChain } from './chains.ts';
import type { FoldedComplex } from './fields.ts';
import type { FoldingResult } from './result.ts';
import { atomRange } from './rows.ts';

const NO_CONFIDENCES = 'The confidences in the result do not fit its tokens or their scale and are left out.';

const percent = (unit: number): number => Number((unit * 100).toPrecision(12));

function place(value: unknown): [number, number, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const [x, y, z]: unknown[] = value;
  if (typeof x !== 'number' || typeof y !== 'number' || typeof z !== 'number') return undefined;
  return Number.isFinite(x + y + z) ? [x, y, z] : undefined;
}

const word = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Atoms of one token; those without a place are left out, names that come twice get a number. */
function atomsOf(complex: FoldedComplex, token: number, b: number): ModelAtom[] {
  const [start, end] = atomRange(complex, token);
  const used = new Set<string>();
  const atoms: ModelAtom[] = [];
  for (let k = start; k < end; k++) {
    const at = place(complex.atomPositions[k]);
    if (at === undefined) continue;
    const wanted = word(complex.atomNames[k]);
    const element = (word(complex.atomElements[k]) || /[A-Za-z]/.exec(wanted)?.[0] || 'X').toUpperCase();
    let name = wanted || element;
    for (let n = 1; used.has(name); n++) name = `${wanted || element}${n}`;
    used.add(name);
    const [x, y, z] = at;
    atoms.push({ name, element, x, y, z, occupancy: 1, b });
  }
  return atoms;
}

/** B-factors and confidences are pLDDT, 0 to 100; residues are numbered from 1 in each chain. */
export function modelOfFold(result: FoldingResult): StructureModel | undefined {
  const { complex, plddt, summary } = result;
  if (complex === undefined || complex.atomPositions.length === 0) return undefined;
  const { misfits } = summary;
  const residue = (kind: FoldedChain['kind'], token: number, number: number): ModelResidue => {
    const unit = plddt.tokens[token] ?? null;
    const confidence = unit === null ? null : percent(unit);
    const name = word(complex.sequence[token]) || 'UNK';
    return {
      name,
      number,
      insertion: '',
      // Not by `atom_hetero`, which some services leave false for modified residues.
      hetero: kind === 'ligand' || residueOf(name)?.standard !== true,
      confidence,
      atoms: atomsOf(complex, token, confidence ?? 0),
    };
  };
  const score = (name: 'pLDDT' | 'pTM' | 'ipTM', value: number | null) =>
    value === null ? [] : [{ name, value }];
  const odd = [misfits.ptm, misfits.iptm, misfits.chainPairs].filter((reason) => reason !== null);
  return {
    id: complex.id ?? 'fold',
    title: summary.model === null ? 'Predicted structure' : `Structure predicted by ${summary.model}`,
    warnings: [
      ...summary.warnings,
      ...odd.map((reason) => `${reason} They are left out.`),
      ...(misfits.plddt === null ? [] : [NO_CONFIDENCES]),
    ],
    chains: summary.chains.map(({ id, kind, tokenStart, tokenEnd }) => ({
      id,
      kind,
      residues: Array.from({ length: tokenEnd - tokenStart }, (_, k) => residue(kind, tokenStart + k, k + 1)),
    })),
    scores: [
      ...score('pLDDT', summary.meanPlddt === null ? null : percent(summary.meanPlddt)),
      ...score('pTM', summary.ptm),
      ...score('ipTM', summary.iptm),
    ],
  };
}
