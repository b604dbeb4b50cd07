// Converts PDB text to mmCIF.
import { writeMmcif } from './mmcif.ts';
import type { ModelChain, ModelResidue, StructureFile } from './model.ts';
import { type PdbResidue, parsePdb } from './pdb.ts';
import type { PlddtUnit } from './plddt-scale.ts';
import { type PolymerKind, residueOf } from './residues.ts';

/** What is known of the file besides its text. */
export interface PdbOptions {
  /** Name of the data block: the protein hash. */
  readonly id: string;
  readonly title?: string;
  /** Scale of the pLDDT in the B-factors; PERCENT unless said. */
  readonly plddtUnit?: PlddtUnit;
  readonly warnings?: readonly string[];
}

/** A residue as it is written: of atoms with one name the first, and 0 where no B-factor is. */
function toModel({ name, number, insertion, hetero, b, atoms }: PdbResidue): ModelResidue {
  const named = new Map(atoms.toReversed().map((atom) => [atom.name, atom]));
  return {
    name: name || 'UNK',
    number,
    insertion,
    hetero,
    confidence: b,
    atoms: atoms.flatMap((atom) =>
      named.get(atom.name) === atom ? [{ ...atom, b: Number.isFinite(atom.b) ? atom.b : 0 }] : [],
    ),
  };
}

/** The residues of one chain: its polymer, and what else bears its letter. */
function chainsFrom(id: string, residues: readonly ModelResidue[]): ModelChain[] {
  const votes = new Map<PolymerKind, ModelResidue[]>();
  const ligands: ModelResidue[] = [];
  for (const residue of residues) {
    const kind = residueOf(residue.name)?.kind ?? (residue.hetero ? undefined : 'protein');
    if (kind === undefined) ligands.push(residue);
    else votes.set(kind, [...(votes.get(kind) ?? []), residue]);
  }
  return [
    ...[...votes].map(([kind, list]): ModelChain => ({ id, kind, residues: list })),
    ...(ligands.length > 0 ? [{ id, kind: 'ligand' as const, residues: ligands }] : []),
  ];
}

/** Writes the first model of a PDB text as mmCIF; REMARK 1 lines and `warnings` go to its head. */
export function pdbToMmcif(text: string, options: PdbOptions): StructureFile {
  const parsed = parsePdb(text);
  if (parsed.atomCount === 0) return { ok: false, reason: 'The PDB text holds no atom.' };
  const remarks = [...text.matchAll(/^REMARK +1 (.*)$/gm)].map(([, line = '']) => line.trim());
  return writeMmcif({
    id: options.id,
    title: options.title ?? `Structure of ${options.id}`,
    warnings: [...remarks, ...(options.warnings ?? [])],
    chains: parsed.chains.flatMap((chain) =>
      chainsFrom(chain || 'A', parsed.residues.filter((residue) => residue.chain === chain).map(toModel)),
    ),
    scores: [],
    ...(options.plddtUnit === undefined ? {} : { plddtUnit: options.plddtUnit }),
  });
}
