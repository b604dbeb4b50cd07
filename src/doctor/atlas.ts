// The doctor's checks of the Atlas: every operation, with a well-known protein.
import { z } from 'zod';
import { readBulkArchive } from '../upstream/archive/bulk.ts';
import type { Call, Upstream } from '../upstream/http/upstream-client.ts';
import * as wire from '../upstream/wire.ts';
import { compare, type Difference } from './differences.ts';
import { type Answer, type Check, check, isOwn404, type Probe } from './probe.ts';

const INSULIN = {
  hash: '12e9c9e4e2835c302e8ba615115edda3',
  accession: 'P01308',
  sequence:
    'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQP' +
    'LALEGSLQKRGIVEQCCTSICSLYQLENYCN',
};
const ABSENT = '00000000000000000000000000000000';
const NO_JOB = '/proteins/batch/jobs/00000000-0000-4000-8000-000000000000';
const JOB_HASHES = Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(32, '0'));

const get = (operation: Call['operation'], path: string, query: Call['query'] = {}): Probe['call'] => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  query,
});

const bulk = (hashes: readonly string[], all: boolean): Probe['call'] => ({
  operation: 'bulk',
  api: 'atlas',
  method: 'POST',
  path: '/proteins/batch',
  accept: 'application/zip, application/json',
  body: {
    protein_hashes: hashes,
    topk_features: 3,
    include_structure: all,
    include_cluster_info: all,
    include_sequence: true,
    include_features: { protein_level: all, per_residue: all },
  },
});

const ACTIVATIONS = { protein_activations: z.unknown(), per_residue_activations: z.unknown() };

const isImage = ({ type }: Answer): Difference[] =>
  type === 'image/png' ? [] : [{ path: 'content-type', expected: 'image/png', seen: type }];

async function* once(bytes: Uint8Array) {
  yield bytes;
}

/** Reads an archive that was asked for a protein and for one that does not exist. */
const examineArchive =
  (hash: string) =>
  async ({ bytes }: Answer): Promise<Difference[]> => {
    const parts = await readBulkArchive(once(bytes), { perResidue: true });
    const expectations: readonly (readonly [path: string, expected: string, holds: boolean])[] = [
      ['archive', 'a whole zip that can be read', parts.problems.length === 0],
      ['sequences.fasta', 'the protein that exists, and no other', parts.sequences.has(hash)],
      ['sequences.fasta', 'no protein that does not exist', !parts.sequences.has(ABSENT)],
      [`structures/*.pdb`, 'the structure', parts.structures.has(hash)],
      ['features.json', 'the features', parts.features.get(hash)?.proteinLevel !== undefined],
      ['features.json', 'activations along the sequence', parts.features.get(hash)?.perResidue !== undefined],
      ['cluster_info.json', 'the cluster', parts.clusters.size > 0],
    ];
    const clusters = [...parts.clusters.values()].flatMap(
      (cluster) => compare(wire.clusterInfo, cluster, CLUSTER_INFO).differences,
    );
    return [
      ...expectations.flatMap(([path, expected, holds]) =>
        holds ? [] : [{ path, expected, seen: 'something else' }],
      ),
      ...clusters.map((one) => ({ ...one, path: `cluster_info.json ${one.path}` })),
    ];
  };

/** The record of the cluster has what an archive leaves out. */
const CLUSTER_INFO = ['source', 'accession', 'cluster_taxonomy_info', 'top_phyla', 'mean_plddt', 'ptm'].map(
  (key) => `$.${key}`,
);

export async function checkAtlas(up: Upstream): Promise<Check[]> {
  const checks: Check[] = [];
  const run = async (probe: Probe): Promise<unknown> => {
    const { check: done, body } = await check(up, probe);
    checks.push(done);
    return body;
  };
  const absent = (name: string, call: Probe['call'], status = 404) =>
    run({ name, call, statuses: [status], ...(status === 404 ? { examine: isOwn404 } : {}) });

  await run({ name: 'features', call: get('features', '/features'), schema: wire.catalogueRows });
  await run({ name: 'feature', call: get('feature', '/features/7'), schema: wire.featureDetail });
  await absent('feature, unknown index', get('feature', '/features/99999999'));
  const { sequence } = INSULIN;
  const similar = await run({
    name: 'similarity',
    call: get('similarity', '/similarity-search', {
      ...{ sequence, topk_results: 2, topk_features: 3, include_cluster_info: true },
    }),
    schema: wire.similarityAnswer,
    optional: ['$.protein_hash', '$.similar_proteins[].cluster_size', '$.similar_proteins[].protein_name'],
  });
  // A deployment without insulin has similar proteins.
  const [hit] = Object(similar).similar_proteins ?? [];
  const known = Object(similar).protein_hash === INSULIN.hash;
  const hash = !known && typeof hit?.protein_hash === 'string' ? hit.protein_hash : INSULIN.hash;

  const record = (of: string) =>
    get('protein', `/proteins/${of}`, { topk_features: 3, fold_on_miss: false, normalize_features: true });
  const protein = await run({
    name: 'protein',
    call: record(hash),
    schema: wire.proteinRecord.extend(ACTIVATIONS),
    optional: ['$.accession', '$.source', '$.header', '$.protein_name'],
  });
  await absent('protein, unknown hash', record(ABSENT));
  await absent('protein, no hash', record('no-hash'), 422);
  const { cluster_rep_protein_hash: link } = Object(protein);
  await run({
    name: 'cluster',
    // A protein that names no cluster represents one, or belongs to none.
    statuses: typeof link === 'string' ? [200] : [200, 404],
    call: get('cluster', `/clusters/${typeof link === 'string' ? link : hash}`, { topk_features: 3 }),
    schema: wire.clusterRecord,
  });
  for (const [type, setting] of [
    ['plddt', 'UPSTREAM_THUMBNAIL_PLDDT'],
    ['pct-characterized', 'UPSTREAM_THUMBNAIL_PCT_CHARACTERIZED'],
  ] as const) {
    const word = encodeURIComponent(up.settings.thumbnailTypes?.[type] ?? type);
    const call = { ...get('thumbnail', `/proteins/${hash}/thumbnail/${word}`), accept: 'image/png' };
    await run({ name: `thumbnail, ${type}`, call, setting, examine: isImage });
  }
  await run({
    name: 'uniprot',
    call: get('uniprot', `/uniprot/${INSULIN.accession}`),
    schema: wire.uniprotRecord,
    optional: ['$.entry_name', '$.sequence_length', '$.gene'],
  });
  await absent('uniprot, other namespace', get('uniprot', '/uniprot/ENSG00000139618'), 400);
  await run({ name: 'bulk', call: bulk([hash, ABSENT], true), examine: examineArchive(hash) });
  const job = await run({
    name: 'bulk, 500 hashes',
    call: bulk(JOB_HASHES, false),
    statuses: [202, 200],
  });
  const { job_id: jobId } = Object(job);
  if (typeof jobId === 'string') {
    const call = get('bulkJob', `/proteins/batch/jobs/${encodeURIComponent(jobId)}`);
    const optional = ['poll_url', 'completed_count', 'total_count', 'download_url', 'expires_at'].map(
      (key) => `$.${key}`,
    );
    await run({ name: 'job', call, statuses: [200, 202], schema: wire.bulkJob, optional });
    const cancel = { ...call, operation: 'bulkJobDelete', method: 'DELETE' } as const;
    await run({ name: 'job, cancel', call: cancel, statuses: [204] });
  }
  await absent('job, unknown', get('bulkJob', NO_JOB));
  return checks;
}
