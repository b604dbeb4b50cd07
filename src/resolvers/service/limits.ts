// limits: the limits of the specification and the configuration. It needs no upstream call.

import { MAX_HASHES } from '../../lookups/lookup.ts';
import { builder } from '../../schema/builder.ts';
import { Limits } from '../../schema/limits.ts';
import { MAX_ITEMS, MAX_TASKS } from '../../submission/check.ts';
import { BULK_HASHES } from '../../upstream/proteins/protein-loader.ts';
import { SEARCH_LIMITS } from '../../upstream/reads/catalogue-search.ts';
import { MAX_RESIDUES } from '../atlas/similarity.ts';

/** The version in a path, such as that of `/api/v1/batch`. */
const apiVersion = (path: string): string | null =>
  path.split('/').find((part) => /^v\d\w*$/.test(part)) ?? null;

builder.queryFields((t) => ({
  limits: t.field({
    public: 'record',
    type: Limits,
    nullable: false,
    description: 'Limits of this gateway and its upstream.',
    resolve: (_root, _args, { services: { config } }) => ({
      maxItems: MAX_ITEMS,
      maxTasks: MAX_TASKS,
      queueDeadlineHours: 24,
      resultRetentionDays: 31,
      maxBulkHashes: BULK_HASHES,
      maxSimilaritySequenceLength: MAX_RESIDUES,
      maxQueryDepth: config.MAX_QUERY_DEPTH,
      maxQueryCost: config.MAX_QUERY_COST,
      batchApiVersion: apiVersion(config.UPSTREAM_BATCH_PREFIX),
      atlasApiVersion: apiVersion(config.UPSTREAM_ATLAS_PREFIX),
      maxBulkLookupHashes: MAX_HASHES,
      maxBulkLookupsRunning: config.MAX_BULK_RUNNING_PER_CALLER || null,
      maxBulkLookupsKept: config.MAX_BULK_KEPT_PER_CALLER || null,
      maxBulkLookupBytes: config.MAX_BULK_MB_PER_CALLER * 1_000_000 || null,
      maxAnswerValues: config.MAX_ANSWER_VALUES,
      maxAnswerBytes: config.MAX_ANSWER_BYTES,
      maxSearchWords: SEARCH_LIMITS.words,
    }),
  }),
}));
