// GET /similarity-search (spec: Atlas API): every hit with a whole structure, streamed hit by hit.
import type { Hono } from 'hono';
import { predictConfidence } from '../structure/confidence.ts';
import type { AtlasContext } from './context.ts';
import { cleanSequence, SEQUENCE_LETTERS } from './fasta.ts';
import { proteinHash } from './members.ts';
import { type QueryReader, readQuery } from './query.ts';
import { unprocessable } from './refusals.ts';
import { type Hit, searchSimilar, sharedFeatures } from './search.ts';
import { ahead, toStream } from './streaming.ts';

/** Longest query, in residues. */
const LONGEST_QUERY = 2048;

function readSequence(query: QueryReader): string {
  const input = query.text('sequence');
  const sequence = cleanSequence(input);
  const loc = ['query', 'sequence'];
  if (query.problems.some((problem) => problem.loc.includes('sequence'))) return '';
  if (sequence === '')
    query.problems.push({
      loc,
      msg: 'String should have at least 1 character',
      type: 'string_too_short',
      input,
      ctx: { min_length: 1 },
    });
  else if (sequence.length > LONGEST_QUERY)
    query.problems.push({
      loc,
      msg: `String should have at most ${LONGEST_QUERY} characters`,
      type: 'string_too_long',
      input,
      ctx: { max_length: LONGEST_QUERY },
    });
  else if (!SEQUENCE_LETTERS.test(sequence)) {
    const error = 'the sequence holds characters that are no amino-acid letters';
    query.problems.push({ loc, msg: `Value error, ${error}`, type: 'value_error', input, ctx: { error } });
  }
  return sequence;
}

async function hitJson(
  { universe, folding, structures }: AtlasContext,
  { protein, score }: Hit,
  clusterInfo: boolean,
): Promise<string> {
  const { sequence } = protein;
  const folded = folding.standing(protein).hasStructure;
  const pdb = folded ? Buffer.from(await structures.make({ form: 'record', sequence })).toString() : null;
  const confidence = folded ? predictConfidence(sequence) : null;
  const cluster = clusterInfo && protein.cluster !== null ? universe.cluster(protein.cluster) : undefined;
  return JSON.stringify({
    protein_hash: protein.hash,
    protein_accession: protein.accession,
    sequence_length: sequence.length,
    similarity_score: score,
    ptm: confidence?.ptm ?? null,
    mean_plddt: confidence?.meanPlddt ?? null,
    residues_plddt: confidence?.plddt ?? null,
    pdb,
    ...(clusterInfo ? { cluster_size: cluster?.size ?? null, protein_name: cluster?.name ?? null } : {}),
  });
}

export function addSimilarityRoutes(app: Hono, context: AtlasContext): void {
  const { universe, structures, wire } = context;
  app.get(`${wire.atlasPrefix}/similarity-search`, async (c) => {
    const query = readQuery(c.req.url);
    const sequence = readSequence(query);
    const topkResults = query.integer('topk_results', 10, { ge: 1, le: 100 });
    const topkFeatures = query.integer('topk_features', 20, { ge: 1, le: 100 });
    const minSimilarity = query.optionalNumber('min_similarity', { ge: 0, le: 1 });
    const pctCharacterizedMax = query.optionalInteger('cluster_pct_characterized_max', { ge: 0, le: 100 });
    const clusterInfo = query.boolean('include_cluster_info', false);
    if (query.problems.length > 0) return unprocessable(query.problems);
    const { hits, restricted } = searchSimilar(universe, {
      sequence,
      topkResults,
      minSimilarity,
      pctCharacterizedMax,
    });
    const hash = proteinHash(sequence);
    const known = universe.protein(hash) === undefined ? {} : { protein_hash: hash };
    const head = JSON.stringify({ query_sequence: sequence, ...known, restricted_count: restricted });

    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${head.slice(0, -1)},"similar_proteins":[`);
      structures.expect(hits.length);
      let comma = '';
      for await (const hit of ahead(hits, (one) => hitJson(context, one, clusterInfo))) {
        yield Buffer.from(comma + hit);
        comma = ',';
      }
      yield Buffer.from(
        `],"top_features_across_results":${JSON.stringify(sharedFeatures(universe, hits, topkFeatures))}}`,
      );
    }
    return new Response(toStream(pieces()), { headers: { 'content-type': 'application/json' } });
  });
}
