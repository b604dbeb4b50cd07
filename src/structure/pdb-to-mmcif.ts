// Converts PDB text to mmCIF.
import { writeMmcif } from './mmcif.ts';
import type { ModelAtom, ModelChain, ModelResidue, StructureFile, StructureModel } from './model.ts';
import { type PdbResidue, parsePdb } from './pdb.ts';
import { findResidue } from './residues.ts';

function groupBy<K, T>(items: readonly T[], toKey: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(toKey(item)) ?? [];
    groups.set(toKey(item), group);
    group.push(item);
  }
  return groups;
}

/** The atoms as they are written: of those with one name the first, and 0 where no B-factor is. */
function toWritableAtoms(atoms: readonly ModelAtom[]): ModelAtom[] {
  const names = new Set<string>();
  return atoms.flatMap((atom) => {
    if (names.has(atom.name)) return [];
    names.add(atom.name);
    return [Number.isFinite(atom.b) ? atom : { ...atom, b: 0 }];
  });
}

/** The residues of one chain: its polymer, and behind it what else bears its letter. */
function toChains(id: string, residues: readonly ModelResidue[]): ModelChain[] {
  const written = residues.map((residue) => ({ ...residue, atoms: toWritableAtoms(residue.atoms) }));
  const byKind = groupBy(
    written,
    ({ name, hetero }): ModelChain['kind'] => findResidue(name)?.kind ?? (hetero ? 'ligand' : 'protein'),
  );
  return [...byKind]
    .sort(([a], [b]) => Number(a === 'ligand') - Number(b === 'ligand'))
    .map(([kind, list]) => ({ id, kind, residues: list }));
}

/** A remark that is a score, which the record of the protein has too. */
const SCORE = /^(?:ptm|mean_plddt)\b/;

/** The text of the remarks, such as the licence, whatever their numbers. */
const readRemarks = (text: string): string[] =>
  [...text.matchAll(/^REMARK(?: +\d+(?= |$))?(.*)$/gm)]
    .map(([, line = '']) => line.trim())
    .filter((line) => line !== '' && !SCORE.test(line));

/**
 * The residues with those that were not modelled, which are part of the sequence and have no atom.
 */
const withMissing = (modelled: readonly PdbResidue[], missing: readonly number[]): readonly PdbResidue[] =>
  [
    ...modelled,
    ...missing.map((number) => ({
      chain: modelled[0]?.chain ?? '',
      name: 'UNK',
      number,
      insertion: '',
      hetero: false,
      confidence: null,
      atoms: [],
    })),
  ].sort((a, b) => a.number - b.number);

/**
 * Writes the first model of a PDB text as mmCIF; its remarks go to its head.
 *
 * @param about.id - name of the data block: the protein hash
 * @param missing - numbers of residues of the sequence, from 1, that were not modelled
 */
export function pdbToMmcif(
  text: string,
  about: Pick<StructureModel, 'id' | 'plddtUnit'>,
  missing: readonly number[] = [],
): StructureFile {
  const { atomCount, residues: modelled } = parsePdb(text);
  if (atomCount === 0) return { ok: false, reason: 'The PDB text holds no atom.' };
  const residues = missing.length === 0 ? modelled : withMissing(modelled, missing);
  const chains = groupBy(residues, ({ chain }) => chain);
  return writeMmcif({
    ...about,
    title: `Structure of ${about.id}`,
    software: 'protein Atlas',
    reference: about.id,
    hasOnlyBridges: true,
    warnings: readRemarks(text),
    chains: [...chains].flatMap(([id, list]) => toChains(id || 'A', list)),
    scores: [],
  });
}
