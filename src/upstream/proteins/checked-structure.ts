// The structure of a protein, checked against its sequence: residues are matched by their numbers, and only
// X, an unknown residue, may have no coordinates.
import { countResidues, parsePdb } from '../../structure/pdb.ts';
import { hasCoordinates, type PresentProtein, type StructureData } from './protein-data.ts';
import { contradiction } from './record-parts.ts';

/** A structure that belongs to its sequence. */
export interface CheckedStructure {
  readonly structure: StructureData;
  /** Numbers of the residues without coordinates, from 1. */
  readonly missing: readonly number[];
  /** By residue, 0 to 1; null for one without coordinates. */
  plddt(): readonly (number | null)[];
}

/**
 * Checks the structure of a protein.
 *
 * @returns undefined when the sequence must be known first
 * @throws UpstreamError UPSTREAM_DRIFT for one that is not that of the sequence
 */
export function checkStructure(
  { length, sequence }: PresentProtein,
  structure: StructureData,
): CheckedStructure | undefined {
  if (!hasCoordinates(structure)) return { structure, missing: [], plddt: () => structure.plddt };
  const count = countResidues(structure.pdb);
  const expected = sequence?.length ?? length ?? undefined;
  if (count !== expected && sequence === undefined) return undefined;
  const missing =
    sequence === undefined || count === expected ? [] : missingResidues(structure.pdb, sequence);
  if (missing === undefined)
    throw contradiction('$.pdb (residues)', `${expected} as the sequence has`, String(count));
  return { structure, missing, plddt: () => placePlddt(structure.plddt, count, missing) };
}

/** The residues of a sequence without coordinates; undefined where one of them may not lack them. */
function missingResidues(pdb: string, sequence: string): number[] | undefined {
  const { residues } = parsePdb(pdb);
  const numbers = new Set(residues.map(({ number }) => number));
  const missing: number[] = [];
  for (let number = 1; number <= sequence.length; number += 1) {
    if (numbers.has(number)) continue;
    if (sequence[number - 1] !== 'X') return undefined;
    missing.push(number);
  }
  return numbers.size === residues.length && residues.length + missing.length === sequence.length
    ? missing
    : undefined;
}

/** @param plddt - of all residues, or of those with coordinates. @throws UpstreamError UPSTREAM_DRIFT */
function placePlddt(
  plddt: StructureData['plddt'],
  modelled: number,
  missing: readonly number[],
): StructureData['plddt'] {
  const length = modelled + missing.length;
  if (plddt.length !== length && plddt.length !== modelled)
    throw contradiction('$.residues_plddt.length', `${length} as the sequence has`, String(plddt.length));
  if (missing.length === 0) return plddt;
  const without = new Set(missing);
  const values = plddt.values();
  return Array.from({ length }, (_, i) => {
    const isMissing = without.has(i + 1);
    const value = isMissing && plddt.length === modelled ? null : (values.next().value ?? null);
    return isMissing ? null : value;
  });
}
