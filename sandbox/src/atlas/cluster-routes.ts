// GET /clusters/{protein_hash} (spec: Atlas API).
import type { Hono } from 'hono';
import { checkHash } from './checks.ts';
import { clusterFields } from './cluster-record.ts';
import type { AtlasContext } from './context.ts';
import { spellRegions, topFeatures, toScale } from './feature-values.ts';
import { findWindows } from './features.ts';
import { readQuery } from './query.ts';
import { refusal, unprocessable } from './refusals.ts';

export function addClusterRoutes(app: Hono, context: AtlasContext): void {
  const { universe, wire, conventions } = context;
  app.get(`${wire.atlasPrefix}/clusters/:protein_hash`, (c) => {
    const hash = c.req.param('protein_hash');
    const query = readQuery(c.req.url);
    checkHash(query.problems, ['path', 'protein_hash'], hash);
    const topk = query.integer('topk_features', 10, { ge: 1, le: 100 });
    if (query.problems.length > 0) return unprocessable(query.problems);
    const cluster = universe.clusterOfRepresentative(hash);
    if (cluster === undefined) return refusal(404, `No cluster has ${hash} as its representative`);
    const sequence = universe.protein(hash)?.sequence ?? '';
    return c.json({
      ...clusterFields(context, cluster),
      member_protein_hashes: universe.members(cluster),
      cluster_representative_features: spellRegions(
        topFeatures(findWindows(sequence), topk, toScale(universe.rarity, true)),
        conventions,
      ),
    });
  });
}
