// Worst-case costs of resolver steps, in upstream calls. An archive may leave out what only the
// record of a protein has.
import { memoize1 } from '@graphql-tools/utils';
import type { CostSelection, FieldCost } from '../schema/query-cost.ts';

/** Proteins for which a list counts one call: a long one is a job, sent, polled and downloaded. */
const PER_BULK_CALL = 100;

/** Calls for a list of proteins, without the calls for single records. */
export const bulkCalls = (proteins: number): number => Math.ceil(proteins / PER_BULK_CALL);

/** Counts a list once, also where a document gives it at many places as a variable. */
export const countDistinct = memoize1((values: readonly unknown[]): number => new Set(values).size);

/** Fields of a protein that an archive may leave out: all share its record. */
export const RECORD: FieldCost = { shared: { record: 1 } };
/** A field of Protein that its record has, or else the UniProt entry of its accession. */
export const NAMES_OF_PROTEIN: FieldCost = { shared: { record: 1, uniprot: 1 } };
/** A field of Protein that needs the cluster, whose hash alone its record may have. */
export const CLUSTER_OF_PROTEIN: FieldCost = { shared: { record: 1, cluster: 1 } };
/** Finding a cluster by any member: as a representative, the protein, its record, the cluster. */
export const FIND_CLUSTER = 4;
export const FEATURE_DETAIL: FieldCost = { shared: { detail: 1 } };
export const CATALOGUE: FieldCost = { once: { catalogue: 1 } };

const FREE = new Set(['__typename', 'hash', 'id', 'thumbnail']);

export const loadsProtein = ({ names }: CostSelection): boolean => [...names].some((name) => !FREE.has(name));

/** A link to a protein that is known to exist. */
export const proteinLink = (_: unknown, selection: CostSelection): FieldCost => ({
  calls: loadsProtein(selection) ? 1 : 0,
});
