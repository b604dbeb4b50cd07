// Writes a structure as mmCIF, with the confidences as in ModelCIF.
import { type BondEnd, type Connection, findConnections } from './connections.ts';
import { type Asym, type Entity, readEntities } from './entities.ts';
import type { StructureFile, StructureModel } from './model.ts';
import { findResidue } from './residues.ts';

/** What a cell may hold; null and undefined are written as `?`, the empty string as `.`. */
type CifValue = string | number | null | undefined;

/** Printable ASCII without quotes that begins with nothing that CIF gives a meaning. */
const BARE = /^[A-Za-z0-9+-][!#-&(-~]*$/;
const RESERVED = /^(?:data_|save_|loop_$|stop_$|global_$)/i;

/** CIF is ASCII: strict parsers refuse other characters and control characters. */
const toAscii = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/[^\n\t\x20-\x7e]/gu, '?');

/** A multi-line value. A line beginning with a semicolon would end it, so a space goes before. */
const textField = (text: string): string => `\n;${text.replace(/\n;/g, '\n ;')}\n;`;

/** Writes one value. */
function cifValue(value: CifValue): string {
  if (value === null || value === undefined) return '?';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '?';
  if (value === '') return '.';
  const text = BARE.test(value) ? value : toAscii(value);
  if (text.includes('\n')) return textField(text);
  if (BARE.test(text) && !RESERVED.test(text)) return text;
  // A quote ends the value only where white space follows it.
  if (!/"(?=\s)/.test(text)) return `"${text}"`;
  return /'(?=\s)/.test(text) ? textField(text) : `'${text}'`;
}

/** One row of a category: its values by the names of its items. */
type CifRow = Readonly<Record<string, CifValue>>;

/** A category of one row. */
export function cifItems(category: string, row: CifRow): string {
  const lines = Object.entries(row).map(([name, value]) => `_${category}.${name} ${cifValue(value)}`);
  return `${lines.join('\n')}\n#\n`;
}

/**
 * A category of many rows, one for each entry; nothing when there are none.
 *
 * @param toRow - gives rows of the same items
 */
function cifLoop<T>(
  category: string,
  entries: readonly T[],
  toRow: (entry: T, index: number) => CifRow,
): string {
  const rows = entries.map(toRow);
  const lines = rows.map((row) => Object.values(row).map(cifValue).join(' '));
  return cifLines(category, Object.keys(rows[0] ?? {}), lines);
}

/** The same with rows that are written already. */
function cifLines(category: string, items: readonly string[], lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `loop_\n${items.map((name) => `_${category}.${name}`).join('\n')}\n${lines.join('\n')}\n#\n`;
}

const POLYMER_TYPE = {
  protein: 'polypeptide(L)',
  rna: 'polyribonucleotide',
  dna: 'polydeoxyribonucleotide',
} as const;

const LINKING = { protein: 'L-peptide linking', rna: 'RNA linking', dna: 'DNA linking' } as const;

const isPolymer = (entity: Entity): entity is Entity & { kind: keyof typeof POLYMER_TYPE } =>
  entity.kind !== 'ligand' && entity.kind !== 'water';

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

function entityText(entities: readonly Entity[], asyms: readonly Asym[]): string {
  const polymers = entities.filter(isPolymer);
  const others = entities.filter((entity) => !isPolymer(entity));
  const components = new Map<string, string>();
  for (const entity of others) for (const name of entity.components) components.set(name, 'non-polymer');
  for (const { kind, components: names } of polymers) {
    for (const name of names) components.set(name, name === 'GLY' ? 'peptide linking' : LINKING[kind]);
  }
  return [
    cifLoop('entity', entities, (entity) => ({
      id: entity.id,
      type: isPolymer(entity) ? 'polymer' : entity.kind === 'water' ? 'water' : 'non-polymer',
      src_method: isPolymer(entity) ? 'man' : 'syn',
      pdbx_description: isPolymer(entity)
        ? `${entity.kind} of ${entity.components.length} residues`
        : entity.components[0],
      pdbx_number_of_molecules: asyms.filter((asym) => asym.entity === entity).length,
    })),
    cifLoop('entity_poly', polymers, (entity) => ({
      entity_id: entity.id,
      type: POLYMER_TYPE[entity.kind],
      nstd_linkage: 'no',
      nstd_monomer: entity.components.every(isStandard) ? 'no' : 'yes',
      pdbx_strand_id: [...entity.strands].join(','),
      pdbx_seq_one_letter_code: sequenceCodes(entity, false),
      pdbx_seq_one_letter_code_can: sequenceCodes(entity, true),
    })),
    cifLoop(
      'entity_poly_seq',
      polymers.flatMap(({ id, components: names }) => names.map((name, k) => ({ id, name, num: k + 1 }))),
      ({ id, name, num }) => ({ entity_id: id, num, mon_id: name, hetero: 'n' }),
    ),
    cifLoop('pdbx_entity_nonpoly', others, ({ id, components: [name] }) => ({
      entity_id: id,
      name,
      comp_id: name,
    })),
    cifLoop('chem_comp', [...components], ([id, type]) => ({
      id,
      type,
      mon_nstd_flag: type === 'non-polymer' ? '' : isStandard(id) ? 'y' : 'n',
    })),
  ].join('');
}

/** The number of a residue of a polymer in its chain; none for other molecules. */
const sequenceNumber = ({ entity }: Asym, index: number): CifValue => (isPolymer(entity) ? index + 1 : '');

function confidenceText(model: StructureModel, asyms: readonly Asym[]): string {
  const local = asyms.flatMap((asym) =>
    asym.residues.flatMap(({ name, confidence }, k) =>
      confidence === null ? [] : [{ asym: asym.id, seq: sequenceNumber(asym, k), name, confidence }],
    ),
  );
  const metrics = [
    ...model.scores.map(({ name }) => ({ name, mode: 'global' })),
    ...(local.length > 0 ? [{ name: 'pLDDT', mode: 'local' }] : []),
  ];
  const isUnit = model.plddtUnit === 'UNIT';
  return [
    cifLoop('ma_qa_metric', metrics, ({ name, mode }, k) => ({
      id: k + 1,
      name,
      // The words of the dictionary: without the addition a pLDDT is one of 0 to 100.
      type: isUnit && name === 'pLDDT' ? 'pLDDT in [0,1]' : name,
      mode,
      software_group_id: null,
    })),
    cifLoop('ma_qa_metric_global', model.scores, ({ value }, k) => ({
      ordinal_id: k + 1,
      model_id: 1,
      metric_id: k + 1,
      metric_value: value,
    })),
    cifLoop('ma_qa_metric_local', local, ({ asym, seq, name, confidence }, k) => ({
      ordinal_id: k + 1,
      model_id: 1,
      label_asym_id: asym,
      label_seq_id: seq,
      label_comp_id: name,
      metric_id: metrics.length,
      metric_value: confidence.toFixed(isUnit ? 4 : 2),
    })),
  ].join('');
}

/** One partner of a connection. @param name - `ptnr1` or `ptnr2` */
const partnerItems = (name: string, { asym, residue, index, atom }: BondEnd): CifRow => ({
  [`${name}_label_asym_id`]: asym.id,
  [`${name}_label_comp_id`]: residue.name,
  [`${name}_label_seq_id`]: sequenceNumber(asym, index),
  [`${name}_label_atom_id`]: atom.name,
  [`${name}_auth_asym_id`]: asym.chain,
  [`${name}_auth_comp_id`]: residue.name,
  [`${name}_auth_seq_id`]: residue.number,
});

function connectionText(connections: readonly Connection[]): string {
  const kinds = [...new Set(connections.map(({ kind }) => kind))];
  return [
    cifLoop('struct_conn_type', kinds, (kind) => ({ id: kind, criteria: 'distance of two covalent radii' })),
    cifLoop('struct_conn', connections, ({ kind, from, to, distance }, k) => ({
      id: `${kind}${k + 1}`,
      conn_type_id: kind,
      ...partnerItems('ptnr1', from),
      ...partnerItems('ptnr2', to),
      pdbx_dist_value: distance.toFixed(3),
    })),
  ].join('');
}

const ATOM_ITEMS = [
  ...['group_PDB', 'id', 'type_symbol', 'label_atom_id', 'label_alt_id', 'label_comp_id', 'label_asym_id'],
  ...['label_entity_id', 'label_seq_id', 'pdbx_PDB_ins_code', 'Cartn_x', 'Cartn_y', 'Cartn_z', 'occupancy'],
  ...['B_iso_or_equiv', 'auth_seq_id', 'auth_comp_id', 'auth_asym_id', 'auth_atom_id', 'pdbx_PDB_model_num'],
];

/** A line for each atom. Texts, not rows of values: nearly all of a file is atoms. */
function atomLines(asyms: readonly Asym[]): string[] {
  const lines: string[] = [];
  for (const asym of asyms) {
    const [label, chain] = [cifValue(asym.id), cifValue(asym.chain)];
    for (const [k, { name, number, insertion, hetero, atoms }] of asym.residues.entries()) {
      const component = cifValue(name);
      const group = hetero ? 'HETATM' : 'ATOM';
      const place = [sequenceNumber(asym, k), insertion || null].map(cifValue).join(' ');
      const labels = `. ${component} ${label} ${asym.entity.id} ${place}`;
      const authors = `${number} ${component} ${chain}`;
      for (const atom of atoms) {
        const own = cifValue(atom.name);
        const at = `${atom.x.toFixed(3)} ${atom.y.toFixed(3)} ${atom.z.toFixed(3)}`;
        const values = `${at} ${atom.occupancy.toFixed(2)} ${atom.b.toFixed(2)}`;
        const id = `${group} ${lines.length + 1} ${cifValue(atom.element)} ${own}`;
        lines.push(`${id} ${labels} ${values} ${authors} ${own} 1`);
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
  const text = [
    `data_${blockName(model.id)}\n`,
    ...comments.map((line) => `# ${line}\n`),
    '#\n',
    cifItems('entry', { id: blockName(model.id) }),
    cifLines('audit_conform', ['dict_name', 'dict_version'], ['mmcif_pdbx.dic 5.397', 'mmcif_ma.dic 1.4.6']),
    cifItems('struct', {
      entry_id: blockName(model.id),
      title: model.title,
      pdbx_model_details: model.warnings.length > 0 ? model.warnings.join('\n') : null,
    }),
    cifItems('exptl', { entry_id: blockName(model.id), method: 'THEORETICAL MODEL' }),
    entityText(entities, asyms),
    cifLoop('struct_asym', asyms, ({ id, entity }) => ({ id, entity_id: entity.id, details: null })),
    connectionText(findConnections(asyms)),
    cifItems('ma_model_list', {
      ordinal_id: 1,
      model_id: 1,
      model_group_id: 1,
      model_name: model.title,
      model_type: 'Ab initio model',
    }),
    confidenceText(model, asyms),
    cifLoop('atom_type', [...elements], (symbol) => ({ symbol })),
    cifLines('atom_site', ATOM_ITEMS, atoms),
  ].join('');
  return { ok: true, text, atomCount: atoms.length };
}
