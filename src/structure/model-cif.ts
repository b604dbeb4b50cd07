// The categories of ModelCIF (mmcif_ma.dic 1.4.9): the targets, the software, and the confidences.
// https://github.com/ihmwg/ModelCIF
import type { CifTable, CifValue } from './cif.ts';
import { type Asym, type Entity, isPolymer } from './entities.ts';
import type { StructureModel } from './model.ts';

/** The number of a residue of a polymer in its chain; none for other molecules. */
export const sequenceNumber = ({ entity }: Asym, index: number): CifValue =>
  isPolymer(entity) ? index + 1 : '';

/** A name for people. */
export const describeEntity = (entity: Entity): string =>
  isPolymer(entity) ? `${entity.kind} of ${entity.components.length} residues` : (entity.components[0] ?? '');

/** Groups of data: the input and the output of the modelling. */
const [INPUT, OUTPUT] = [1, 2];

function protocolTables(model: StructureModel, entities: readonly Entity[]): CifTable[] {
  const modelData = entities.length + 1;
  const { reference } = model;
  return [
    [
      'software',
      [{ pdbx_ordinal: 1, name: model.software, classification: 'model building', type: 'program' }],
    ],
    ['ma_software_group', [{ ordinal_id: 1, group_id: 1, software_id: 1 }]],
    [
      'ma_data',
      [
        ...entities.map((entity) => ({
          id: entity.id,
          name: describeEntity(entity),
          content_type: 'target',
        })),
        { id: modelData, name: model.title, content_type: 'model coordinates' },
      ],
    ],
    [
      'ma_data_group',
      [...entities.map(({ id }) => id), modelData].map((id) => ({
        ordinal_id: id,
        group_id: id === modelData ? OUTPUT : INPUT,
        data_id: id,
      })),
    ],
    [
      'ma_target_entity',
      entities.map(({ id }) => ({
        entity_id: id,
        data_id: id,
        origin: reference === undefined ? 'designed' : 'reference database',
      })),
    ],
    [
      'ma_target_ref_db_details',
      reference === undefined
        ? []
        : entities.map(({ id }) => ({
            target_entity_id: id,
            db_name: 'Other',
            db_name_other_details: 'protein Atlas',
            db_code: reference,
            db_accession: reference,
          })),
    ],
    [
      'ma_model_list',
      [
        {
          ordinal_id: 1,
          // Mandatory until version 1.4.6 of the dictionary, and deprecated since: for older
          // readers.
          model_id: 1,
          model_group_id: 1,
          model_name: model.title,
          model_type: 'Ab initio model',
          data_id: modelData,
        },
      ],
    ],
    [
      'ma_protocol_step',
      [
        {
          ordinal_id: 1,
          protocol_id: 1,
          step_id: 1,
          method_type: 'modeling',
          step_name: 'structure prediction',
          software_group_id: 1,
          input_data_group_id: INPUT,
          output_data_group_id: OUTPUT,
        },
      ],
    ],
  ];
}

/** The id of the metric of errors, which comes behind the scores of the whole. */
export const paeMetric = ({ scores }: StructureModel): number => scores.length + 1;

/**
 * Local confidences by residue. The dictionary has ma_qa_metric_local for residues of polymers, and
 * features for ligands. Mol* reads those of ligands from ma_qa_metric_local, as AlphaFold 3 writes
 * them, with no label_seq_id. So ligands stand in both.
 */
function confidenceTables(model: StructureModel, asyms: readonly Asym[]): CifTable[] {
  const unit = model.plddtUnit === 'UNIT' ? ' in [0,1]' : '';
  const decimals = unit === '' ? 2 : 4;
  // By the dictionary, a plain pLDDT is of alpha carbons, on 0 to 100.
  const allAtom = `pLDDT all-atom${unit}`;
  const types = { pLDDT: model.hasAtomConfidences ? allAtom : `pLDDT${unit}`, pTM: 'pTM', ipTM: 'ipTM' };
  const local = asyms.flatMap((asym) =>
    asym.residues.flatMap(({ name, confidence }, k) =>
      confidence === null ? [] : [{ asym, name, seq: sequenceNumber(asym, k), confidence }],
    ),
  );
  const features = local.filter(({ asym }) => !isPolymer(asym.entity));
  const metrics = [
    ...model.scores.map(({ name }) => ({ name, type: types[name], mode: 'global' })),
    ...(model.hasPae === true ? [{ name: 'PAE', type: 'PAE', mode: 'local-pairwise' }] : []),
    ...(local.length > 0 ? [{ name: 'pLDDT', type: types.pLDDT, mode: 'local' }] : []),
    ...(features.length > 0 ? [{ name: 'pLDDT', type: allAtom, mode: 'per-feature' }] : []),
  ];
  const localMetric = paeMetric(model) + (model.hasPae === true ? 1 : 0);
  return [
    ['ma_qa_metric', metrics.map((metric, k) => ({ id: k + 1, ...metric, software_group_id: 1 }))],
    [
      'ma_qa_metric_global',
      model.scores.map(({ value }, k) => ({
        ordinal_id: k + 1,
        model_id: 1,
        metric_id: k + 1,
        metric_value: value,
      })),
    ],
    [
      'ma_qa_metric_local',
      local.map(({ asym, seq, name, confidence }, k) => ({
        ordinal_id: k + 1,
        model_id: 1,
        label_asym_id: asym.id,
        label_seq_id: seq,
        label_comp_id: name,
        metric_id: localMetric,
        metric_value: confidence.toFixed(decimals),
      })),
    ],
    [
      'ma_feature_list',
      features.map(({ asym }, k) => ({
        feature_id: k + 1,
        feature_type: 'entity instance',
        entity_type: asym.entity.kind === 'water' ? 'water' : 'non-polymer',
      })),
    ],
    [
      'ma_entity_instance_feature',
      features.map(({ asym }, k) => ({ ordinal_id: k + 1, feature_id: k + 1, label_asym_id: asym.id })),
    ],
    [
      'ma_qa_metric_feature',
      features.map(({ confidence }, k) => ({
        ordinal_id: k + 1,
        model_id: 1,
        feature_id: k + 1,
        metric_id: localMetric + 1,
        metric_value: confidence.toFixed(decimals),
      })),
    ],
  ];
}

export const modelCifTables = (
  model: StructureModel,
  entities: readonly Entity[],
  asyms: readonly Asym[],
): CifTable[] => [
  ...protocolTables(model, entities),
  ['ma_target_entity_instance', asyms.map(({ id, entity }) => ({ asym_id: id, entity_id: entity.id }))],
  ...confidenceTables(model, asyms),
];
