// Converts PDB text to mmCIF.
import { writeMmcif } from './mmcif.ts';
import type { ModelChain, ModelResidue, StructureFile } from './model.ts';
import { type PdbAtom, parsePdb, residueGroups } from './pdb.ts';
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

function residueFrom(atoms: readonly PdbAtom[], b: number | null): ModelResidue | undefined {
  const first = atoms[0];
  if (first === undefined) return undefined;
  const used = new Set<string>();
  return {
    name: first.residue || 'UNK',
    number: first.number,
    insertion: first.insertion,
    hetero: first.hetero,
    confidence: b,
    atoms: atoms.flatMap((atom) => {
      if (used.has(atom.name)) return [];
      used.add(atom.name);
      return [{ ...atom, b: Number.isFinite(atom.b) ? atom.b : 0 }];
    }),
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
  const groups = new Map<string, ModelResidue[]>(parsed.chains.map((chain) => [chain, []]));
  residueGroups(parsed.atoms).forEach((atoms, k) => {
    const found = residueFrom(atoms, parsed.residues[k]?.b ?? null);
    if (found !== undefined) groups.get(parsed.residues[k]?.chain ?? '')?.push(found);
  });
  return writeMmcif({
    id: options.id,
    title: options.title ?? `Structure of ${options.id}`,
    warnings: [...remarks, ...(options.warnings ?? [])],
    chains: [...groups].flatMap(([chain, residues]) => chainsFrom(chain || 'A', residues)),
    scores: [],
    ...(options.plddtUnit === undefined ? {} : { plddtUnit: options.plddtUnit }),
  });
}
