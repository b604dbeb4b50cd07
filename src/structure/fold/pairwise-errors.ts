// The predicted aligned error as the category of ModelCIF (mmcif_ma.dic) that has one row for each
// pair of residues. The dictionary does not say which one is aligned. Converters for ModelArchive
// write the matrix row by row, and ChimeraX reads it so: the first one. Mol* plots it on the axis
// that it calls scored.

import { cifValue, loopHead } from '../cif.ts';
import { isPolymer, readEntities } from '../entities.ts';
import type { StructureModel } from '../model.ts';
import { paeMetric } from '../model-cif.ts';
import { errorText } from './confidence-files.ts';
import type { Matrix } from './matrix.ts';

const CATEGORY = 'ma_qa_metric_local_pairwise';
const ITEMS = [
  ...['ordinal_id', 'model_id', 'label_asym_id_1', 'label_seq_id_1', 'label_comp_id_1'],
  ...['label_asym_id_2', 'label_seq_id_2', 'label_comp_id_2', 'metric_id', 'metric_value'],
];
const COMMENT =
  '# PAE in angstroms: the error of the second residue when the first one is aligned.\n' +
  '# Residues of polymers only; confidences.json has the errors of ligands.\n';

/**
 * Writes the category in pieces, one for each first residue: 2,000 residues have 4 million pairs.
 * Ligands have no place in it, because both numbers of residues are mandatory, nor have residues
 * without coordinates, because the numbers are those of atoms.
 *
 * @param pae - by the residues of all chains in their order
 */
export function* pairwiseErrors(model: StructureModel, { columnCount, cells }: Matrix): Generator<string> {
  const labels = readEntities(model).asyms.flatMap(({ id, entity, residues }) =>
    residues.map(({ name, atoms }, k) =>
      isPolymer(entity) && atoms.length > 0 ? `${cifValue(id)} ${k + 1} ${cifValue(name)}` : null,
    ),
  );
  const places = labels.flatMap((label, place) => (label === null ? [] : [{ label, place }]));
  const metric = paeMetric(model);
  let count = 0;
  for (const first of places) {
    let text = '';
    for (const second of places) {
      const error = cells[first.place * columnCount + second.place] ?? Number.NaN;
      if (Number.isNaN(error)) continue;
      // A loop without rows is not valid.
      if (count === 0) text = `${COMMENT}${loopHead(CATEGORY, ITEMS)}`;
      count += 1;
      text += `${count} 1 ${first.label} ${second.label} ${metric} ${errorText(error)}\n`;
    }
    yield text;
  }
  if (count > 0) yield '#\n';
}
