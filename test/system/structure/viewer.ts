// Structure files as a molecule viewer's library (molstar) understands them.
import { QualityAssessment } from 'molstar/lib/commonjs/extensions/model-archive/quality-assessment/prop.js';
import { CIF } from 'molstar/lib/commonjs/mol-io/reader/cif.js';
import { parsePDB } from 'molstar/lib/commonjs/mol-io/reader/pdb/parser.js';
import type { Trajectory } from 'molstar/lib/commonjs/mol-model/structure.js';
import { trajectoryFromMmCIF } from 'molstar/lib/commonjs/mol-model-formats/structure/mmcif.js';
import { trajectoryFromPDB } from 'molstar/lib/commonjs/mol-model-formats/structure/pdb.js';

async function view(trajectory: Trajectory) {
  const model = trajectory.representative;
  const { atoms, residues, chains, residueAtomSegments, chainAtomSegments } = model.atomicHierarchy;
  const { x, y, z, B_iso_or_equiv } = model.atomicConformation;
  return {
    kinds: Array.from(model.entities.data.type.toArray(), String),
    atoms: Array.from({ length: atoms._rowCount }, (_, k) => {
      const residue = residueAtomSegments.index[k] ?? 0;
      return {
        name: atoms.label_atom_id.value(k),
        element: String(atoms.type_symbol.value(k)),
        residue: atoms.label_comp_id.value(k),
        number: residues.auth_seq_id.value(residue),
        chain: chains.auth_asym_id.value(chainAtomSegments.index[k] ?? 0),
        at: [x[k] ?? 0, y[k] ?? 0, z[k] ?? 0].map(Math.fround),
        b: Math.fround(B_iso_or_equiv.value(k)),
      };
    }),
  };
}

async function openMmcif(text: string) {
  const parsed = await CIF.parseText(text).run();
  if (parsed.isError) throw new Error(parsed.message);
  const block = parsed.result.blocks[0];
  if (block === undefined) throw new Error('no block');
  return { block, trajectory: await trajectoryFromMmCIF(block).run() };
}

export const viewMmcif = async (text: string) => view((await openMmcif(text)).trajectory);

/**
 * The errors that are plotted, by the first residue and the second one, counted over the whole
 * structure.
 */
export async function viewPae(text: string) {
  const { block, trajectory } = await openMmcif(text);
  const [metric] = QualityAssessment.findModelArchiveCIFPAEMetrics(block);
  const { representative } = trajectory;
  return QualityAssessment.pairwiseMetricFromModelArchiveCIF(representative, block, metric?.id ?? 0)?.values;
}

export async function viewPdb(text: string) {
  const parsed = await parsePDB(text, 'x').run();
  if (parsed.isError) throw new Error(parsed.message);
  return view(await trajectoryFromPDB(parsed.result).run());
}
