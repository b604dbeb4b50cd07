// Converts PDB text to mmCIF, and rescales its B-factors; the caller says what they mean.
import { writeMmcif } from './mmcif.ts';
import type { ModelChain, ModelResidue, StructureFile } from './model.ts';
import { type PdbAtom, parsePdb, residueGroups } from './pdb.ts';
import { type PolymerKind, residueOf } from './residues.ts';

/** What is known of the file besides its text. */
export interface PdbOptions {
  /** Name of the data block: the protein hash. */
  readonly id: string;
  readonly title?: string;
  /** What the B-factors are multiplied by: 100 brings pLDDT from 0..1 to 0..100; 1 unless said. */
  readonly factor?: number;
  readonly warnings?: readonly string[];
}

function residueFrom(atoms: readonly PdbAtom[], b: number | null, factor: number): ModelResidue | undefined {
  const first = atoms[0];
  if (first === undefined) return undefined;
  const used = new Set<string>();
  return {
    name: first.residue || 'UNK',
    number: first.number,
    insertion: first.insertion,
    hetero: first.hetero,
    confidence: b === null ? null : b * factor,
    atoms: atoms.flatMap((atom) => {
      if (used.has(atom.name)) return [];
      used.add(atom.name);
      return [{ ...atom, b: (Number.isFinite(atom.b) ? atom.b : 0) * factor }];
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
  const factor = options.factor ?? 1;
  const parsed = parsePdb(text);
  if (parsed.atomCount === 0) return { ok: false, reason: 'The PDB text holds no atom.' };
  const remarks = [...text.matchAll(/^REMARK +1 (.*)$/gm)].map(([, line = '']) => line.trim());
  const groups = new Map<string, ModelResidue[]>(parsed.chains.map((chain) => [chain, []]));
  residueGroups(parsed.atoms).forEach((atoms, k) => {
    const found = residueFrom(atoms, parsed.residues[k]?.b ?? null, factor);
    if (found !== undefined) groups.get(parsed.residues[k]?.chain ?? '')?.push(found);
  });
  return writeMmcif({
    id: options.id,
    title: options.title ?? `Structure of ${options.id}`,
    warnings: [...remarks, ...(options.warnings ?? [])],
    chains: [...groups].flatMap(([chain, residues]) => chainsFrom(chain || 'A', residues)),
    scores: [],
  });
}

/** The text with the B-factor of every atom line multiplied; lines without a number there stay. */
export function scalePdbBFactors(text: string, factor: number): string {
  return text.replace(/^((?:ATOM {2}|HETATM).{54})(.{6})/gm, (line, before: string, column: string) => {
    const b = Number.parseFloat(column);
    return Number.isFinite(b) ? `${before}${(b * factor).toFixed(2).padStart(6).slice(0, 6)}` : line;
  });
}
