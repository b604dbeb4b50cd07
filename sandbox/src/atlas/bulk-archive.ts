// The members of a bulk archive, made protein by protein with a turn of the loop in between. Hashes
// that the Atlas does not hold are left out.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BulkRequest } from './bulk-request.ts';
import { clusterFields, clusterSummary } from './cluster-record.ts';
import type { AtlasContext } from './context.ts';
import { describeFeature } from './feature-text.ts';
import { perResidueJson, proteinLevelJson, rankFeatures, toScale } from './feature-values.ts';
import { findWindows, proteinVector } from './features.ts';
import { ahead } from './streaming.ts';
import type { AtlasProtein } from './universe-reader.ts';
import type { ZipMember } from './zip.ts';

function clusterInfoJson(context: AtlasContext, proteins: readonly AtlasProtein[]): string {
  const { conventions } = context;
  const clusters: Record<string, unknown> = {};
  const links: Record<string, string> = {};
  for (const { hash, cluster: id } of proteins) {
    const cluster = id === null ? undefined : context.universe.cluster(id);
    if (cluster === undefined) continue;
    clusters[cluster.representative] ??= conventions.has('clusterDetails')
      ? clusterFields(context, cluster)
      : clusterSummary(cluster);
    links[hash] = cluster.representative;
  }
  return JSON.stringify({ clusters, ...(conventions.has('clusterLinks') ? { proteins: links } : {}) });
}

function featuresJson(
  { universe, conventions }: AtlasContext,
  { sequence }: AtlasProtein,
  request: BulkRequest,
): string {
  const scale = toScale(universe.rarity, true);
  const windows = findWindows(sequence);
  const vector = proteinVector(windows);
  const top = rankFeatures(vector, request.topkFeatures, scale).map(({ feature, value }) => ({
    feature_index: feature,
    value,
    label: describeFeature(feature).label,
  }));
  const parts = [
    ...(request.proteinLevel ? [`"protein_level":${proteinLevelJson(vector, scale)}`] : []),
    ...(request.perResidue ? [`"per_residue":${perResidueJson(windows, sequence.length, scale)}`] : []),
    ...(conventions.has('bulkTopFeatures') ? [`"top_features":${JSON.stringify(top)}`] : []),
  ];
  return `{${parts.join(',')}}`;
}

async function* featuresPieces(
  context: AtlasContext,
  proteins: readonly AtlasProtein[],
  request: BulkRequest,
) {
  yield Buffer.from('{');
  for (const [n, protein] of proteins.entries()) {
    yield Buffer.from(`${n === 0 ? '' : ','}"${protein.hash}":${featuresJson(context, protein, request)}`);
    await nextTurn();
  }
  yield Buffer.from('}');
}

async function* structureMembers({ folding, structures }: AtlasContext, proteins: readonly AtlasProtein[]) {
  const folded = proteins.filter((protein) => folding.standing(protein).hasStructure);
  structures.expect(folded.length);
  yield* ahead(folded, async ({ hash, sequence }) => ({
    name: `structures/${hash}.pdb`,
    data: Buffer.from(await structures.make({ form: 'member', sequence })),
  }));
}

/**
 * The members in the order of the wire contract: structures, sequences, cluster information,
 * features.
 */
export async function* archiveMembers(
  context: AtlasContext,
  request: BulkRequest,
): AsyncGenerator<ZipMember> {
  const proteins = request.hashes.flatMap((hash) => context.universe.protein(hash) ?? []);
  if (request.structure) yield* structureMembers(context, proteins);
  if (request.sequence) {
    const fasta = proteins.map((p) => `>${p.hash}|${p.accession}|${p.source}\n${p.sequence}\n`);
    yield { name: 'sequences.fasta', data: Buffer.from(fasta.join('')) };
  }
  if (request.clusterInfo)
    yield { name: 'cluster_info.json', data: Buffer.from(clusterInfoJson(context, proteins)) };
  if (request.proteinLevel || request.perResidue)
    yield { name: 'features.json', pieces: featuresPieces(context, proteins, request) };
}
