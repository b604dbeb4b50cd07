// The predicted structure of a protein, checked against its sequence when it arrives: residues are
// matched by their numbers, and only X, an unknown residue, may have no coordinates.
import { type LazyText, readBytes, readText } from '../../structure/lazy-text.ts';
import { parsePdb, readResidueLetters } from '../../structure/pdb.ts';
import { findResidue } from '../../structure/residues.ts';
import type { UpstreamError } from '../errors.ts';
import { contradiction } from './check-record.ts';

type Plddt = readonly (number | null)[];

/** A structure with coordinates. */
export interface Structure {
  /** PDB text; bytes where it is of an archive, which the garbage collector does not move. */
  readonly text: string | LazyText;
  /** Numbers of the residues without coordinates, from 1. */
  readonly missing: readonly number[];
  /** Why the text is not that of the sequence: an error where the text or its residues are read. */
  readonly fault: UpstreamError | null;
}

/** The known facts of the sequence. */
interface SequenceFacts {
  readonly sequence: string | undefined;
  readonly length: number | undefined;
}

const LETTERS = 'ACDEFGHIKLMNPQRSTVWY';

/** Whether a residue of a structure is another one than that of the sequence; X may be any. */
const isOther = (seen: string, expected: string): boolean =>
  seen !== expected && LETTERS.includes(seen) && LETTERS.includes(expected);

/** The first place at which a structure has another residue; undefined where it has none. */
function findOtherResidue(letters: string, sequence: string): number | undefined {
  if (letters === sequence) return undefined;
  for (let at = 0; at < sequence.length; at += 1)
    if (isOther(letters.charAt(at), sequence.charAt(at))) return at;
  return undefined;
}

const faultAt = (expected: string, seen: string): UpstreamError =>
  contradiction('$.pdb (residues)', `${expected} as the sequence has`, seen);

/**
 * Reads a PDB text with coordinates. @param letters - its residues, where they are read already
 */
export function readStructure(
  text: string | LazyText,
  { sequence, length }: SequenceFacts,
  letters: string = readResidueLetters(readBytes(text)),
): Structure {
  const expected = sequence?.length ?? length;
  if (letters.length === expected) {
    const at = sequence === undefined ? undefined : findOtherResidue(letters, sequence);
    if (sequence === undefined || at === undefined) return { text, missing: [], fault: null };
    const fault = faultAt(`${sequence.charAt(at)} at residue ${at + 1}`, letters.charAt(at));
    return { text, missing: [], fault };
  }
  const missing = sequence === undefined ? undefined : missingResidues(readText(text), sequence);
  if (missing !== undefined) return { text, missing, fault: null };
  return { text, missing: [], fault: faultAt(String(expected), String(letters.length)) };
}

/**
 * The residues of a sequence without coordinates; undefined where one of them may not lack them, or
 * another one stands in its place.
 */
function missingResidues(pdb: string, sequence: string): number[] | undefined {
  const { residues } = parsePdb(pdb);
  const letters = new Map(residues.map(({ number, name }) => [number, findResidue(name)?.letter ?? 'X']));
  const missing: number[] = [];
  for (let number = 1; number <= sequence.length; number += 1) {
    const letter = letters.get(number);
    const expected = sequence.charAt(number - 1);
    if (letter === undefined ? expected !== 'X' : isOther(letter, expected)) return undefined;
    if (letter === undefined) missing.push(number);
  }
  return letters.size === residues.length && residues.length + missing.length === sequence.length
    ? missing
    : undefined;
}

/** The confidences that stand in the B-factors of a PDB text, on 0 to 1. */
export function readResidues(pdb: string): { readonly plddt: Plddt; readonly mean: number | null } {
  const { residues } = parsePdb(pdb);
  const written = residues.map(({ confidence }) => confidence);
  const isPercent = written.some((b) => b !== null && b > 1);
  const plddt = isPercent ? written.map((b) => (b === null ? null : b / 100)) : written;
  const known = plddt.filter((b) => b !== null);
  const mean = known.length === 0 ? null : known.reduce((sum, b) => sum + b, 0) / known.length;
  return { plddt, mean };
}

/**
 * pLDDT by residue; null for a residue without coordinates.
 *
 * @param stated - of all residues or of those with coordinates; undefined where only the B-factors
 *   have them
 * @throws UpstreamError UPSTREAM_DRIFT for a structure or a list that is not that of the sequence
 */
export function plddtByResidue({ text, missing, fault }: Structure, stated: Plddt | undefined): Plddt {
  if (fault !== null) throw fault;
  const plddt = stated ?? readResidues(readText(text)).plddt;
  const modelled = readResidueLetters(readBytes(text)).length;
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
