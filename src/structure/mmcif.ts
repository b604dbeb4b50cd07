// Writes a structure as mmCIF, with the confidences as in ModelCIF.
import { type CifValue, cifItems, cifLoop } from './cif-text.ts';
import { type BondEnd, type Connection, connectionsOf } from './connections.ts';
import { type Asym, type Entity, entitiesOf } from './entities.ts';
import type { StructureFile, StructureModel } from './model.ts';
import { residueOf } from './residues.ts';

const POLYMER_TYPE = {
  protein: 'polypeptide(L)',
  rna: 'polyribonucleotide',
  dna: 'polydeoxyribonucleotide',
} as const;

const LINKING = { protein: 'L-peptide linking', rna: 'RNA linking', dna: 'DNA linking' } as const;

const isPolymer = (entity: Entity): entity is Entity & { kind: keyof typeof POLYMER_TYPE } =>
  entity.kind !== 'ligand' && entity.kind !== 'water';

/** Breaks a sequence into lines. */
const folded = (sequence: string): string => sequence.replace(/.{80}(?=.)/g, '$&\n');

const codes = (entity: Entity, canonical: boolean): string =>
  folded(
    entity.components
      .map((name) => {
        const known = residueOf(name);
        if (canonical) return known?.letter ?? 'X';
        return known?.standard === true && known.kind !== 'dna' ? known.letter : `(${name})`;
      })
      .join(''),
  );

const isStandard = (name: string): boolean => residueOf(name)?.standard === true;

function entityText(entities: readonly Entity[]): string {
  const polymers = entities.filter(isPolymer);
  const others = entities.filter((entity) => !isPolymer(entity));
  const type = (entity: Entity) =>
    isPolymer(entity) ? 'polymer' : entity.kind === 'water' ? 'water' : 'non-polymer';
  const components = new Map<string, string>();
  for (const entity of others) for (const name of entity.components) components.set(name, 'non-polymer');
  for (const { kind, components: names } of polymers) {
    for (const name of names) components.set(name, name === 'GLY' ? 'peptide linking' : LINKING[kind]);
  }
  const parts = [
    cifLoop(
      'entity',
      ['id', 'type', 'src_method', 'pdbx_description', 'pdbx_number_of_molecules'],
      entities.map((entity) => [
        entity.id,
        type(entity),
        isPolymer(entity) ? 'man' : 'syn',
        isPolymer(entity)
          ? `${entity.kind} of ${entity.components.length} residues`
          : (entity.components[0] ?? null),
        entity.strands.size,
      ]),
    ),
    cifLoop(
      'entity_poly',
      [
        'entity_id',
        'type',
        'nstd_linkage',
        'nstd_monomer',
        'pdbx_strand_id',
        'pdbx_seq_one_letter_code',
        'pdbx_seq_one_letter_code_can',
      ],
      polymers.map((entity) => [
        entity.id,
        POLYMER_TYPE[entity.kind],
        'no',
        entity.components.every(isStandard) ? 'no' : 'yes',
        [...entity.strands].join(','),
        codes(entity, false),
        codes(entity, true),
      ]),
    ),
    cifLoop(
      'entity_poly_seq',
      ['entity_id', 'num', 'mon_id', 'hetero'],
      polymers.flatMap(({ id, components: names }) =>
        names.map((name, k): CifValue[] => [id, k + 1, name, 'n']),
      ),
    ),
    cifLoop(
      'pdbx_entity_nonpoly',
      ['entity_id', 'name', 'comp_id'],
      others.map(({ id, components: [name] }) => [id, name, name]),
    ),
    cifLoop(
      'chem_comp',
      ['id', 'type', 'mon_nstd_flag'],
      [...components].map(([name, kind]) => [
        name,
        kind,
        kind === 'non-polymer' ? '' : isStandard(name) ? 'y' : 'n',
      ]),
    ),
  ];
  return parts.join('');
}

function confidenceText(model: StructureModel, asyms: readonly Asym[]): string {
  const local = asyms.flatMap(({ id, entity, residues }) =>
    residues.flatMap(({ name, confidence }, k): [string, CifValue, string, number][] =>
      confidence === null ? [] : [[id, isPolymer(entity) ? k + 1 : '', name, confidence]],
    ),
  );
  const metrics = [
    ...model.scores.map(({ name, value }) => ({ name, mode: 'global', value })),
    ...(local.length > 0 ? [{ name: 'pLDDT', mode: 'local', value: null }] : []),
  ].map((metric, k) => ({ ...metric, id: k + 1 }));
  if (metrics.length === 0) return '';
  const isUnit = model.plddtUnit === 'UNIT';
  // The words of the dictionary: without the addition a pLDDT is one of 0 to 100.
  const typeOf = (name: string) => (isUnit && name === 'pLDDT' ? 'pLDDT in [0,1]' : name);
  return [
    cifLoop(
      'ma_qa_metric',
      ['id', 'name', 'description', 'type', 'mode', 'software_group_id'],
      metrics.map(({ id, name, mode }) => [id, name, `Predicted ${name.slice(1)}`, typeOf(name), mode, null]),
    ),
    cifLoop(
      'ma_qa_metric_global',
      ['ordinal_id', 'model_id', 'metric_id', 'metric_value'],
      metrics.flatMap(({ id, value }, k): CifValue[][] => (value === null ? [] : [[k + 1, 1, id, value]])),
    ),
    cifLoop(
      'ma_qa_metric_local',
      [
        'ordinal_id',
        'model_id',
        'label_asym_id',
        'label_seq_id',
        'label_comp_id',
        'metric_id',
        'metric_value',
      ],
      local.map(([asym, seq, comp, value], k) => [
        k + 1,
        1,
        asym,
        seq,
        comp,
        metrics.length,
        value.toFixed(isUnit ? 4 : 2),
      ]),
    ),
  ].join('');
}

const CONNECTION_END = ['label_asym_id', 'label_comp_id', 'label_seq_id', 'label_atom_id'];
const AUTHOR_END = ['auth_asym_id', 'auth_comp_id', 'auth_seq_id'];

function connectionText(connections: readonly Connection[]): string {
  const label = ({ asym, residue, index, atom }: BondEnd): CifValue[] => [
    asym.id,
    residue.name,
    isPolymer(asym.entity) ? index + 1 : '',
    atom.name,
  ];
  const author = ({ asym, residue }: BondEnd): CifValue[] => [asym.chain, residue.name, residue.number];
  const kinds = [...new Set(connections.map(({ kind }) => kind))];
  return [
    cifLoop(
      'struct_conn_type',
      ['id', 'criteria'],
      kinds.map((kind) => [kind, 'distance of two covalent radii']),
    ),
    cifLoop(
      'struct_conn',
      [
        'id',
        'conn_type_id',
        ...[1, 2].flatMap((n) => [...CONNECTION_END, ...AUTHOR_END].map((item) => `ptnr${n}_${item}`)),
        'pdbx_dist_value',
      ],
      connections.map(({ kind, from, to, distance }, k) => [
        `${kind}${k + 1}`,
        kind,
        ...[from, to].flatMap((end) => [...label(end), ...author(end)]),
        distance.toFixed(3),
      ]),
    ),
  ].join('');
}

const ATOM_SITE = [
  'group_PDB',
  'id',
  'type_symbol',
  'label_atom_id',
  'label_alt_id',
  'label_comp_id',
  'label_asym_id',
  'label_entity_id',
  'label_seq_id',
  'pdbx_PDB_ins_code',
  'Cartn_x',
  'Cartn_y',
  'Cartn_z',
  'occupancy',
  'B_iso_or_equiv',
  'auth_seq_id',
  'auth_comp_id',
  'auth_asym_id',
  'auth_atom_id',
  'pdbx_PDB_model_num',
];

function atomRows(asyms: readonly Asym[]): CifValue[][] {
  const rows: CifValue[][] = [];
  for (const { id, chain, entity, residues } of asyms) {
    residues.forEach(({ name, number, insertion, hetero, atoms }, k) => {
      for (const atom of atoms) {
        rows.push([
          hetero ? 'HETATM' : 'ATOM',
          rows.length + 1,
          atom.element,
          atom.name,
          '',
          name,
          id,
          entity.id,
          isPolymer(entity) ? k + 1 : '',
          insertion === '' ? null : insertion,
          atom.x.toFixed(3),
          atom.y.toFixed(3),
          atom.z.toFixed(3),
          atom.occupancy.toFixed(2),
          atom.b.toFixed(2),
          number,
          name,
          chain,
          atom.name,
          1,
        ]);
      }
    });
  }
  return rows;
}

/** A data block's name holds neither white space nor quotes. */
const blockName = (id: string): string => id.replace(/[^A-Za-z0-9_.-]/g, '_') || 'structure';

/** Writes the file. There is always one, whatever the size. */
export function writeMmcif(model: StructureModel): StructureFile & { ok: true } {
  const { entities, asyms } = entitiesOf(model);
  const rows = atomRows(asyms);
  const comments = model.warnings.flatMap((warning) => warning.replace(/[^\n\x20-\x7e]/gu, '?').split('\n'));
  const elements = [...new Set(rows.map((row) => row[2]))];
  const text = [
    `data_${blockName(model.id)}\n`,
    ...comments.map((line) => `# ${line}\n`),
    '#\n',
    cifItems('entry', { id: blockName(model.id) }),
    cifLoop(
      'audit_conform',
      ['dict_name', 'dict_version'],
      [
        ['mmcif_pdbx.dic', '5.397'],
        ['mmcif_ma.dic', '1.4.6'],
      ],
    ),
    cifItems('struct', {
      entry_id: blockName(model.id),
      title: model.title,
      pdbx_model_details: model.warnings.length > 0 ? model.warnings.join('\n') : null,
    }),
    cifItems('exptl', { entry_id: blockName(model.id), method: 'THEORETICAL MODEL' }),
    entityText(entities),
    cifLoop(
      'struct_asym',
      ['id', 'entity_id', 'details'],
      asyms.map(({ id, entity }) => [id, entity.id, null]),
    ),
    connectionText(connectionsOf(asyms)),
    cifItems('ma_model_list', {
      ordinal_id: 1,
      model_id: 1,
      model_group_id: 1,
      model_name: model.title,
      model_type: 'Ab initio model',
    }),
    confidenceText(model, asyms),
    cifLoop(
      'atom_type',
      ['symbol'],
      elements.map((element) => [element]),
    ),
    cifLoop('atom_site', ATOM_SITE, rows),
  ].join('');
  return { ok: true, text, atomCount: rows.length };
}
