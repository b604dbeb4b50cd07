// Makes one text or picture of a structure: the work that the Atlas does here or hands to a thread.
import { bulkPdb, proteinPdb } from '../structure/pdb.ts';
import { buildProtein } from '../structure/protein.ts';
import { type Colouring, renderThumbnail } from '../thumbnail/thumbnail.ts';

/** The file to make: the single-record PDB, the zip-member PDB, or a thumbnail. */
export type StructureOrder =
  | { readonly form: 'record' | 'member'; readonly sequence: string }
  | { readonly form: 'thumbnail'; readonly sequence: string; readonly colouring: Colouring };

/** A function of the order alone. */
export function makeStructure(order: StructureOrder): Uint8Array {
  const model = buildProtein(order.sequence);
  if (order.form === 'thumbnail') return renderThumbnail(model, order.colouring);
  return Buffer.from(order.form === 'record' ? proteinPdb(model) : bulkPdb(model), 'latin1');
}
