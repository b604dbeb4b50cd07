// What the usual steps cost in upstream calls, in the worst case: an archive may leave out what only the record of a protein says.
import type { CostSelection, FieldCost } from '../execution/query-cost.ts';

/** Proteins for which a bulk call counts as one more: a long list is a job, which is sent, followed and downloaded. */
const PER_BULK_CALL = 100;

/** Calls for a list of proteins before the records of any of them. */
export const bulkCalls = (proteins: number): number => Math.ceil(proteins / PER_BULK_CALL);

export const countDistinct = (values: readonly unknown[]): number => new Set(values).size;

/** A field of Protein that an archive may leave out. All such fields of a protein share its record. */
export const RECORD: FieldCost = { shared: { record: 1 } };
/** A field of Protein that needs its cluster: its record may name the representative, whose record may say the rest. */
export const CLUSTER_OF_PROTEIN: FieldCost = { shared: { record: 1, cluster: 1 } };
/** Finding a cluster by any member: the hash as a representative, the protein, its record, the cluster. */
export const FIND_CLUSTER = 4;
/** The catalogue of features, loaded once. */
export const CATALOGUE: FieldCost = { once: { catalogue: 1 } };

/** Fields of Protein that need no answer of the upstream. */
const FREE = new Set(['__typename', 'hash', 'id', 'thumbnail']);

/** Whether anything of a protein is to be loaded. */
export const loadsProtein = ({ names }: CostSelection): boolean => [...names].some((name) => !FREE.has(name));

/** A link to a protein whose existence need not be asked for. */
export const proteinLink = (_: unknown, selection: CostSelection): FieldCost => ({
  calls: loadsProtein(selection) ? 1 : 0,
});
