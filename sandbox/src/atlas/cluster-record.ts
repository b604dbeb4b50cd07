// A cluster in the shape of the wire, as GET /clusters and the bulk archive both give it.
import { predictConfidence } from '../structure/confidence.ts';
import type { AtlasContext } from './context.ts';
import type { AtlasCluster } from './universe-reader.ts';

/** The fields that a bulk archive has of a cluster in every dialect. */
export const clusterSummary = (cluster: AtlasCluster) => ({
  cluster_size: cluster.size,
  cluster_pct_characterized: cluster.pctCharacterized,
  cluster_mean_domain_coverage: cluster.meanDomainCoverage,
  cluster_top_pfam_domains: cluster.pfam,
  protein_name: cluster.name,
});

/** Everything but members and representative features. */
export function clusterFields({ universe, folding }: AtlasContext, cluster: AtlasCluster) {
  const representative = universe.protein(cluster.representative);
  const folded = representative !== undefined && folding.standing(representative).hasStructure;
  const confidence = folded ? predictConfidence(representative.sequence) : null;
  return {
    protein_hash: cluster.representative,
    ...clusterSummary(cluster),
    source: representative?.source ?? null,
    accession: representative?.accession ?? null,
    cluster_taxonomy_info: cluster.taxon,
    top_phyla: cluster.phyla,
    mean_plddt: confidence?.meanPlddt ?? null,
    ptm: confidence?.ptm ?? null,
  };
}
