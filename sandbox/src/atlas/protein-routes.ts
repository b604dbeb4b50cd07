// GET /proteins/{protein_hash} (spec: Atlas API).
import type { Hono } from 'hono';
import { predictConfidence } from '../structure/confidence.ts';
import { checkHash } from './checks.ts';
import type { AtlasContext } from './context.ts';
import {
  chosenFeatures,
  perResidueJson,
  proteinLevelJson,
  spellRegions,
  topFeatures,
  toScale,
} from './feature-values.ts';
import { findWindows, proteinVector } from './features.ts';
import { readQuery } from './query.ts';
import { refusal, unprocessable } from './refusals.ts';
import type { AtlasProtein } from './universe-reader.ts';

/** More of `feature_indices` are ignored. */
const MOST_INDICES = 100;

interface ProteinQuery {
  readonly topk: number;
  readonly foldOnMiss: boolean;
  readonly normalised: boolean;
  readonly indices: readonly number[] | undefined;
}

async function proteinJson(
  context: AtlasContext,
  protein: AtlasProtein,
  query: ProteinQuery,
): Promise<string> {
  const { universe, folding, structures, conventions } = context;
  const { sequence } = protein;
  const { hasStructure, onDemand } = folding.visit(protein, query.foldOnMiss);
  const confidence = hasStructure ? predictConfidence(sequence) : null;
  const pdb = hasStructure ? await structures.make({ form: 'record', sequence }) : null;
  const cluster = protein.cluster === null ? undefined : universe.cluster(protein.cluster);
  const windows = findWindows(sequence);
  const scale = toScale(universe.rarity, query.normalised);
  const record = JSON.stringify({
    protein_hash: protein.hash,
    accession: protein.accession,
    source: protein.source,
    header: protein.header,
    sequence,
    sequence_length: sequence.length,
    ptm: confidence?.ptm ?? null,
    mean_plddt: confidence?.meanPlddt ?? null,
    residues_plddt: confidence?.plddt ?? null,
    pdb: pdb === null ? null : Buffer.from(pdb).toString(),
    folded_on_demand: onDemand,
    cluster_rep_protein_hash:
      cluster === undefined || cluster.representative === protein.hash ? null : cluster.representative,
    sae_features: spellRegions(
      query.indices === undefined
        ? topFeatures(windows, query.topk, scale)
        : chosenFeatures(windows, query.indices.slice(0, MOST_INDICES), scale),
      conventions,
    ),
  });
  const whole = proteinLevelJson(proteinVector(windows), scale);
  const residues = perResidueJson(windows, sequence.length, scale);
  return `${record.slice(0, -1)},"protein_activations":${whole},"per_residue_activations":${residues}}`;
}

export function addProteinRoutes(app: Hono, context: AtlasContext): void {
  const { universe, wire } = context;

  app.get(`${wire.atlasPrefix}/proteins/:protein_hash`, async (c) => {
    const hash = c.req.param('protein_hash');
    const query = readQuery(c.req.url);
    checkHash(query.problems, ['path', 'protein_hash'], hash);
    const wanted = {
      topk: query.integer('topk_features', 10, { ge: 1, le: 100 }),
      foldOnMiss: query.boolean('fold_on_miss', true),
      normalised: query.boolean('normalize_features', true),
      indices: query.integers('feature_indices'),
    };
    if (query.problems.length > 0) return unprocessable(query.problems);
    const protein = universe.protein(hash);
    if (protein === undefined) return refusal(404, `Protein ${hash} not found`);
    // A Response reads a text letter by letter.
    const json = Buffer.from(await proteinJson(context, protein, wanted));
    return c.body(json, 200, { 'content-type': 'application/json' });
  });
}
