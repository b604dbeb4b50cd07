// Writes a structure as mmCIF (mmcif_pdbx_v50.dic), with the categories of ModelCIF.
import { type CifRow, type CifTable, cifItems, cifLines, cifLoop, cifValue } from './cif.ts';
import { type BondEnd, type Connection, findConnections } from './connections.ts';
import { type Asym, type Entity, isPolymer, type PolymerEntity, readEntities } from './entities.ts';
import { findCharge } from './ions.ts';
import type { ModelResidue, StructureFile, StructureModel } from './model.ts';
import { describeEntity, modelCifTables, sequenceNumber } from './model-cif.ts';
import { findResidue } from './residues.ts';

const POLYMER_TYPE = {
  protein: 'polypeptide(L)',
  rna: 'polyribonucleotide',
  dna: 'polydeoxyribonucleotide',
} as const;

const LINKING = { protein: 'L-peptide linking', rna: 'RNA linking', dna: 'DNA linking' } as const;

/** Components of other linking than the rest of their kind. */
const OTHER_LINKING: ReadonlyMap<string, string> = new Map([
  ...['GLY', 'AIB', 'SAR'].map((name): [string, string] => [name, 'peptide linking']),
  ...'DAL DAR DAS DCY DGL DGN DHI DIL DLE DLY DPN DPR DSG DSN DTH DTR DTY DVA MED'
    .split(' ')
    .map((name): [string, string] => [name, 'D-peptide linking']),
]);

/** Breaks a sequence into lines. */
const breakLines = (sequence: string): string => sequence.replace(/.{80}(?=.)/g, '$&\n');

const sequenceCodes = (entity: Entity, canonical: boolean): string =>
  breakLines(
    entity.components
      .map((name) => {
        const known = findResidue(name);
        if (canonical) return known?.letter ?? 'X';
        return known?.standard === true && known.kind !== 'dna' ? known.letter : `(${name})`;
      })
      .join(''),
  );

const isStandard = (name: string): boolean => findResidue(name)?.standard === true;

/** The type of each component; that of the first chain where chains of several kinds have it. */
function componentTypes(polymers: readonly PolymerEntity[], others: readonly Entity[]): Map<string, string> {
  const types = new Map<string, string>();
  for (const { kind, components } of polymers)
    for (const name of components)
      if (!types.has(name)) types.set(name, OTHER_LINKING.get(name) ?? LINKING[kind]);
  for (const { components } of others)
    for (const name of components) if (!types.has(name)) types.set(name, 'non-polymer');
  return types;
}

function entityTables(entities: readonly Entity[], asyms: readonly Asym[]): CifTable[] {
  const polymers = entities.filter(isPolymer);
  const others = entities.filter((entity) => !isPolymer(entity));
  return [
    [
      'entity',
      entities.map((entity) => ({
        id: entity.id,
        type: isPolymer(entity) ? 'polymer' : entity.kind === 'water' ? 'water' : 'non-polymer',
        src_method: isPolymer(entity) ? 'man' : 'syn',
        pdbx_description: describeEntity(entity),
        pdbx_number_of_molecules: asyms.filter((asym) => asym.entity === entity).length,
      })),
    ],
    [
      'entity_poly',
      polymers.map((entity) => ({
        entity_id: entity.id,
        type: POLYMER_TYPE[entity.kind],
        nstd_linkage: 'no',
        nstd_monomer: entity.components.every(isStandard) ? 'no' : 'yes',
        pdbx_strand_id: [...entity.strands].join(','),
        pdbx_seq_one_letter_code: sequenceCodes(entity, false),
        pdbx_seq_one_letter_code_can: sequenceCodes(entity, true),
      })),
    ],
    [
      'pdbx_entity_nonpoly',
      others.map(({ id, components: [name] }) => ({
        entity_id: id,
        name,
        comp_id: name,
        ma_model_mode: 'explicit',
      })),
    ],
    [
      'chem_comp',
      [...componentTypes(polymers, others)].map(([id, type]) => ({
        id,
        type,
        mon_nstd_flag: type === 'non-polymer' ? '' : isStandard(id) ? 'y' : 'n',
      })),
    ],
    [
      'struct_asym',
      asyms.map(({ id, entity, chain, givenChain }) => ({
        id,
        entity_id: entity.id,
        details: chain === givenChain ? null : toAsciiJson(givenChain),
      })),
    ],
  ];
}

/** A name as JSON in ASCII, which CIF can hold. */
const toAsciiJson = (name: string): string =>
  JSON.stringify(name).replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The sequences of polymers: a line for each residue. */
function sequenceText(entities: readonly Entity[]): string {
  const lines: string[] = [];
  for (const { id, components } of entities.filter(isPolymer))
    for (const [k, name] of components.entries()) lines.push(`${id} ${k + 1} ${cifValue(name)} n`);
  return cifLines('entity_poly_seq', ['entity_id', 'num', 'mon_id', 'hetero'], lines);
}

/**
 * A residue without coordinates has a place in the sequence, and neither number nor name of an
 * author.
 */
const authorItems = ({ number, name, atoms }: ModelResidue): string => {
  const component = cifValue(name);
  return atoms.length > 0 ? `${number} ${number} ${component} ${component}` : `${number} ? ? ?`;
};

const SCHEME_ITEMS = [
  ...['ndb_seq_num', 'pdb_seq_num', 'auth_seq_num', 'pdb_mon_id', 'auth_mon_id'],
  ...['pdb_strand_id', 'pdb_ins_code'],
];

/** Maps each residue to its number and chain in `atom_site`. DSSP reads nothing without it. */
function schemeText(asyms: readonly Asym[]): string {
  const [polymers, others]: string[][] = [[], []];
  for (const asym of asyms) {
    const [id, chain] = [cifValue(asym.id), cifValue(asym.chain)];
    const isChain = isPolymer(asym.entity);
    for (const [k, residue] of asym.residues.entries()) {
      const component = cifValue(residue.name);
      const end = `${authorItems(residue)} ${chain} ${residue.insertion || '.'}`;
      if (isChain) polymers?.push(`${id} ${asym.entity.id} ${k + 1} ${component} ${k + 1} ${end} n`);
      else others?.push(`${id} ${asym.entity.id} ${component} ${k + 1} ${end}`);
    }
  }
  const polymerItems = ['asym_id', 'entity_id', 'seq_id', 'mon_id', ...SCHEME_ITEMS, 'hetero'];
  return [
    cifLines('pdbx_poly_seq_scheme', polymerItems, polymers ?? []),
    cifLines('pdbx_nonpoly_scheme', ['asym_id', 'entity_id', 'mon_id', ...SCHEME_ITEMS], others ?? []),
  ].join('');
}

/** One partner of a connection. @param partner - 1 or 2 */
const partnerItems = (partner: 1 | 2, { asym, residue, index, atom }: BondEnd): CifRow => ({
  [`ptnr${partner}_label_asym_id`]: asym.id,
  [`ptnr${partner}_label_comp_id`]: residue.name,
  [`ptnr${partner}_label_seq_id`]: sequenceNumber(asym, index),
  [`ptnr${partner}_label_atom_id`]: atom.name,
  [`ptnr${partner}_auth_asym_id`]: asym.chain,
  [`ptnr${partner}_auth_comp_id`]: residue.name,
  [`ptnr${partner}_auth_seq_id`]: residue.number,
  [`pdbx_ptnr${partner}_PDB_ins_code`]: residue.insertion || null,
  [`ptnr${partner}_symmetry`]: '1_555',
});

const describeCriteria = (connections: readonly Connection[]): string =>
  `${connections.some((one) => one.isDeclared) ? 'declared, or ' : ''}distance of two covalent radii`;

const connectionTables = (connections: readonly Connection[]): CifTable[] => [
  [
    'struct_conn_type',
    [...new Set(connections.map(({ kind }) => kind))].map((kind) => ({
      id: kind,
      criteria: describeCriteria(connections.filter((one) => one.kind === kind)),
    })),
  ],
  [
    'struct_conn',
    connections.map(({ kind, from, to, distance, isDeclared }, k) => ({
      id: `${kind}${k + 1}`,
      conn_type_id: kind,
      ...partnerItems(1, from),
      ...partnerItems(2, to),
      pdbx_dist_value: distance.toFixed(3),
      details: isDeclared ? 'declared' : null,
    })),
  ],
];

/** The same categories, in the same order, as in files of the PDB and AlphaFold DB. */
const ATOM_ITEMS = [
  ...['group_PDB', 'id', 'type_symbol', 'label_atom_id', 'label_alt_id', 'label_comp_id', 'label_asym_id'],
  ...['label_entity_id', 'label_seq_id', 'pdbx_PDB_ins_code', 'Cartn_x', 'Cartn_y', 'Cartn_z', 'occupancy'],
  ...['B_iso_or_equiv', 'pdbx_formal_charge', 'auth_seq_id', 'auth_comp_id', 'auth_asym_id', 'auth_atom_id'],
  'pdbx_PDB_model_num',
];

/** A line for each atom. Texts, not rows of values: nearly all of a file is atoms. */
function atomLines(asyms: readonly Asym[]): string[] {
  const lines: string[] = [];
  for (const asym of asyms) {
    const [label, chain] = [cifValue(asym.id), cifValue(asym.chain)];
    for (const [k, residue] of asym.residues.entries()) {
      const { name, number, insertion, hetero, atoms } = residue;
      const component = cifValue(name);
      const group = hetero ? 'HETATM' : 'ATOM';
      const place = [sequenceNumber(asym, k), insertion || null].map(cifValue).join(' ');
      const labels = `. ${component} ${label} ${asym.entity.id} ${place}`;
      const authors = `${number} ${component} ${chain}`;
      // Nearly always the same for all atoms of a residue.
      let [occupancy, b, factors] = [Number.NaN, Number.NaN, ''];
      for (const atom of atoms) {
        if (atom.b !== b || atom.occupancy !== occupancy) {
          ({ occupancy, b } = atom);
          factors = `${occupancy.toFixed(2)} ${b.toFixed(2)}`;
        }
        const own = cifValue(atom.name);
        const values = `${atom.x.toFixed(3)} ${atom.y.toFixed(3)} ${atom.z.toFixed(3)} ${factors}`;
        const id = `${group} ${lines.length + 1} ${cifValue(atom.element)} ${own}`;
        const charge = cifValue(findCharge(residue, atom));
        lines.push(`${id} ${labels} ${values} ${charge} ${authors} ${own} 1`);
      }
    }
  }
  return lines;
}

/** A data block's name holds neither white space nor quotes. */
const blockName = (id: string): string => id.replace(/[^A-Za-z0-9_.-]/g, '_') || 'structure';

/** Writes the file. There is always one, whatever the size. */
export function writeMmcif(model: StructureModel): StructureFile & { ok: true } {
  const { entities, asyms } = readEntities(model);
  const atoms = atomLines(asyms);
  const comments = model.warnings.flatMap((warning) => warning.replace(/[^\n\x20-\x7e]/gu, '?').split('\n'));
  const residues = asyms.flatMap((asym) => asym.residues);
  const elements = new Set(residues.flatMap((residue) => residue.atoms.map(({ element }) => element)));
  const entry = blockName(model.id);
  const text = [
    `data_${entry}\n`,
    ...comments.map((line) => `# ${line}\n`),
    '#\n',
    cifItems('entry', { id: entry }),
    cifLines('audit_conform', ['dict_name', 'dict_version'], ['mmcif_pdbx.dic 5.397', 'mmcif_ma.dic 1.4.9']),
    cifItems('struct', {
      entry_id: entry,
      title: model.title,
      pdbx_model_details: model.warnings.length > 0 ? model.warnings.join('\n') : null,
    }),
    cifItems('exptl', { entry_id: entry, method: 'THEORETICAL MODEL' }),
    ...entityTables(entities, asyms).map(cifLoop),
    sequenceText(entities),
    schemeText(asyms),
    ...connectionTables(findConnections(asyms, model)).map(cifLoop),
    ...modelCifTables(model, entities, asyms).map(cifLoop),
    cifLoop(['atom_type', [...elements].map((symbol) => ({ symbol }))]),
    cifLines('atom_site', ATOM_ITEMS, atoms),
  ].join('');
  return { ok: true, text, atomCount: atoms.length };
}
