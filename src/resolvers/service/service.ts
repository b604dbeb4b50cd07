// limits, models, service and viewer: what the specification, the configuration and the request
// say. Only `Service.isSandbox` may need the upstream.

import type { Services } from '../../context.ts';
import { MAX_HASHES } from '../../lookups/lookup.ts';
import { VERSION } from '../../package.ts';
import { builder } from '../../schema/builder.ts';
import { publicNonNull, publicNullable } from '../../schema/public-fields-plugin.ts';
import { Limits, Model, Service, Viewer } from '../../schema/service.ts';
import { MAX_ITEMS, MAX_TASKS } from '../../submission/check.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { BULK_HASHES } from '../../upstream/proteins/protein-loader.ts';
import { SEARCH_LIMITS } from '../../upstream/reads/catalogue.ts';
import { MAX_RESIDUES } from '../atlas/similarity.ts';

/** The version in a path, such as that of `/api/v1/batch`. */
const apiVersion = (path: string): string | null =>
  path.split('/').find((part) => /^v\d\w*$/.test(part)) ?? null;

async function isSandbox({ upstream }: Services): Promise<boolean> {
  try {
    return await upstream.checkSandbox();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UpstreamError(`The upstream ${reason}.`, {
      operation: 'ping',
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
    });
  }
}

builder.objectFields(Service, (t) => ({
  isSandbox: t.boolean({
    public: 'record',
    nullable: false,
    cost: 1,
    description:
      'Whether the upstream is a sandbox, whose structures and scores are geometry and not predictions. ' +
      'One upstream call if the upstream has not answered yet, else none.',
    resolve: (_service, _args, { services }) => isSandbox(services),
  }),
}));

builder.queryFields((t) => ({
  models: t.field({
    public: 'record',
    type: [Model],
    nullable: { list: false, items: false },
    description: 'The models that fold, the default first. The operator names them (FOLD_MODELS).',
    resolve: (_root, _args, { services: { config } }) =>
      config.FOLD_MODELS.map((name, index) => ({ name, default: index === 0 })),
  }),
  service: t.field({
    ...publicNullable('record', 'This gateway and the service behind it. Null only with an error.'),
    type: Service,
    resolve: (_root, _args, { services: { upstream } }) => ({ upstream: upstream.url, version: VERSION }),
  }),
  viewer: t.field({
    type: Viewer,
    description: 'The caller; null without a token.',
    resolve: (_root, _args, { principal }) => (principal === null ? null : { principal }),
  }),
  limits: t.field({
    ...publicNonNull('record', 'Limits of this gateway and its upstream.'),
    type: Limits,
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
