// The entities of a structure: chains of the same kind and components are one entity; each
// component of a ligand chain stands alone, as in the Protein Data Bank.
import type { ModelChain, ModelResidue, StructureModel } from './model.ts';
import { isSameMolecule } from './molecules.ts';
import type { PolymerKind } from './residues.ts';

export interface Entity {
  readonly id: number;
  readonly kind: ModelChain['kind'] | 'water';
  /** Component names in order: a polymer's sequence, or the one component of a ligand. */
  readonly components: readonly string[];
  /** Names of the chains as files have them. */
  readonly strands: Set<string>;
}

export interface PolymerEntity extends Entity {
  readonly kind: PolymerKind;
}

export const isPolymer = (entity: Entity): entity is PolymerEntity =>
  entity.kind !== 'ligand' && entity.kind !== 'water';

/** One chain as mmCIF counts them (`label_asym_id`). */
export interface Asym {
  readonly id: string;
  /** The name of its chain in printable ASCII, which no other chain has. */
  readonly chain: string;
  /** The name of its chain as it was given. */
  readonly givenChain: string;
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

/** The names of chains in files: CIF is ASCII. */
function nameChains(chains: readonly ModelChain[]): Map<string, string> {
  const used = new Set<string>();
  const ids = new Set(chains.map(({ id }) => id));
  return new Map([...ids].map((id) => [id, toUniqueName(id.replace(/[^\x21-\x7e]/g, '_') || 'A', used)]));
}

/**
 * Names that the Protein Data Bank reserves for molecules without one, such as those given by
 * SMILES.
 */
const UNNAMED = new Set(['LIG', 'DRG', 'INH', 'UNL', 'UNK']);

/** Whether the residue of a ligand is the molecule of an entity of that name. */
const isCopy = (residue: ModelResidue, of: ModelResidue): boolean =>
  !UNNAMED.has(residue.name) ||
  (residue.atoms.map(({ name }) => name).join(' ') === of.atoms.map(({ name }) => name).join(' ') &&
    isSameMolecule(residue.atoms, of.atoms));

/** Groups the chains into entities. */
export function readEntities(model: StructureModel): { entities: Entity[]; asyms: Asym[] } {
  const entities: Entity[] = [];
  /** By kind and components; several where molecules without a name differ. */
  const known = new Map<string, Asym[]>();
  const used = new Set<string>();
  const names = nameChains(model.chains);
  const asyms: Asym[] = [];
  const add = (chain: ModelChain, kind: Entity['kind'], residues: readonly ModelResidue[]) => {
    const components = residues.map(({ name }) => name);
    const key = `${kind} ${components.join(' ')}`;
    const [residue] = residues;
    const alike = known.get(key) ?? [];
    const original = alike.find(
      ({ residues: [other] }) => kind !== 'ligand' || !residue || !other || isCopy(residue, other),
    );
    const entity = original?.entity ?? { id: entities.length + 1, kind, components, strands: new Set() };
    const name = names.get(chain.id) ?? chain.id;
    entity.strands.add(name);
    const asym = { id: toUniqueName(name, used), chain: name, givenChain: chain.id, entity, residues };
    asyms.push(asym);
    if (original !== undefined) return;
    entities.push(entity);
    known.set(key, [...alike, asym]);
  };
  for (const chain of model.chains) {
    if (chain.kind !== 'ligand') add(chain, chain.kind, chain.residues);
    else
      for (const residue of chain.residues)
        add(chain, WATER.has(residue.name) ? 'water' : 'ligand', [residue]);
  }
  return { entities, asyms };
}
