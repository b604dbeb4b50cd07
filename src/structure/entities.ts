// The entities of a structure: chains of the same kind and components are one entity; each
// component of a ligand chain stands alone, as in the Protein Data Bank.
import type { ModelChain, ModelResidue, StructureModel } from './model.ts';

export interface Entity {
  readonly id: number;
  readonly kind: ModelChain['kind'] | 'water';
  /** Component names in order: a polymer's sequence, or the one component of a ligand. */
  readonly components: readonly string[];
  /** Names of the chains as the upstream calls them. */
  readonly strands: Set<string>;
}

/** One chain as mmCIF counts them (`label_asym_id`). */
export interface Asym {
  readonly id: string;
  readonly chain: string;
  readonly entity: Entity;
  readonly residues: readonly ModelResidue[];
}

const WATER = new Set(['HOH', 'WAT', 'DOD']);

/** An unused name: the wanted one, else with a number behind it. */
function toUniqueName(wanted: string, used: Set<string>): string {
  let name = wanted;
  for (let k = 2; used.has(name); k++) name = `${wanted}-${k}`;
  used.add(name);
  return name;
}

/**
 * Names that the Protein Data Bank reserves for molecules without one, such as those given by
 * SMILES.
 */
const UNNAMED = new Set(['LIG', 'DRG', 'INH', 'UNL', 'UNK']);

/** Two atoms of a molecule that are nearer are taken as bonded, in ångström. */
const MAX_BOND = 2;

/** Distinguishes unnamed molecules: their atoms and bonds. Mirror images have the same key. */
function structureKey(residues: readonly ModelResidue[]): string {
  const atoms = residues.flatMap((residue) => residue.atoms);
  const bonds = atoms.flatMap((a, i) =>
    atoms.flatMap((b, j) =>
      j > i && Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z) < MAX_BOND ? [`${i}-${j}`] : [],
    ),
  );
  return `${atoms.map(({ name }) => name).join(' ')} ${bonds.join(' ')}`;
}

/** Groups the chains into entities. */
export function readEntities(model: StructureModel): { entities: Entity[]; asyms: Asym[] } {
  const entities = new Map<string, Entity>();
  const used = new Set<string>();
  const asyms: Asym[] = [];
  const add = (chain: ModelChain, kind: Entity['kind'], residues: readonly ModelResidue[]) => {
    const components = residues.map(({ name }) => name);
    const isUnnamed = kind === 'ligand' && components.some((name) => UNNAMED.has(name));
    const named = `${kind} ${components.join(' ')}`;
    const key = isUnnamed ? `${named} ${structureKey(residues)}` : named;
    const entity: Entity = entities.get(key) ?? {
      id: entities.size + 1,
      kind,
      components,
      strands: new Set(),
    };
    entities.set(key, entity);
    entity.strands.add(chain.id);
    asyms.push({
      id: toUniqueName(chain.id.replace(/[^\x21-\x7e]/g, '_') || 'A', used),
      chain: chain.id,
      entity,
      residues,
    });
  };
  for (const chain of model.chains) {
    if (chain.kind !== 'ligand') add(chain, chain.kind, chain.residues);
    else
      for (const residue of chain.residues)
        add(chain, WATER.has(residue.name) ? 'water' : 'ligand', [residue]);
  }
  return { entities: [...entities.values()], asyms };
}
