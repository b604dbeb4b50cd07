// limits, models, service and viewer: what the specification, the configuration and the request
// say.
import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import { MAX_LOOKUP_HASHES } from '../lookups/bulk-lookup.ts';
import { VERSION } from '../package.ts';
import { builder } from '../schema/builder.ts';
import { publicNonNull, publicNullable } from '../schema/field-options.ts';
import { MAX_ITEMS, MAX_TASKS } from '../submission/check.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { BULK_HASHES } from '../upstream/proteins/plan.ts';
import { SEARCH_LIMITS } from '../upstream/reads/catalogue-search.ts';
import { MAX_RESIDUES } from './atlas/similarity.ts';

const LIMITS: Readonly<Record<string, readonly [description: string, value: (config: Config) => number]>> = {
  maxItems: ['Items of one submission, such as 2000.', () => MAX_ITEMS],
  maxTasks: ['Tasks of one submission: items times repeats, such as 2000.', () => MAX_TASKS],
  queueDeadlineHours: ['Hours after which a task that has not started is cancelled, such as 24.', () => 24],
  resultRetentionDays: [
    'Days after submission during which the upstream stores results, such as 31.',
    () => 31,
  ],
  maxBulkHashes: [
    'Proteins in one bulk call to the upstream, such as 500; the gateway splits longer lists.',
    () => BULK_HASHES,
  ],
  maxSimilaritySequenceLength: [
    'Residues of a sequence for similarity search, such as 2048.',
    () => MAX_RESIDUES,
  ],
  maxQueryDepth: ['Levels of one GraphQL query, such as 12.', (config) => config.limits.queryDepth],
  maxQueryCost: [
    'Upstream calls that one GraphQL query may cost, in the worst case, such as 12000.',
    (config) => config.MAX_QUERY_COST,
  ],
  maxAnswerValues: [
    'Fields and list members that one answer may contain, in the worst case.',
    (config) => config.limits.answerValues,
  ],
  maxAnswerBytes: ['Bytes that one answer may contain.', (config) => config.limits.answerBytes],
  maxSearchWords: ['Different words of a feature search, such as 12.', () => SEARCH_LIMITS.words],
  maxBulkLookupHashes: ['Hashes of one bulk look-up, such as 50000.', () => MAX_LOOKUP_HASHES],
};

/** The version in a path, such as that of `/api/v1/batch`. */
const apiVersion = (path: string): string | null =>
  path.split('/').find((part) => /^v\d\w*$/.test(part)) ?? null;

const Limits = builder.objectRef<Config>('Limits').implement({
  description: 'Limits of this gateway and its upstream.',
  fields: (t) => ({
    ...Object.fromEntries(
      Object.entries(LIMITS).map(([name, [text, resolve]]) => [
        name,
        t.int({ ...publicNonNull('record', text), resolve }),
      ]),
    ),
    batchApiVersion: t.string({
      public: 'record',
      description: 'Version of the upstream\'s Batch API, such as "v1"; null where its path names none.',
      resolve: (config) => apiVersion(config.UPSTREAM_BATCH_PREFIX),
    }),
    atlasApiVersion: t.string({
      public: 'record',
      description:
        'Version of the upstream\'s Atlas API, such as "v1alpha1"; null where its path names none.',
      resolve: (config) => apiVersion(config.UPSTREAM_ATLAS_PREFIX),
    }),
  }),
});

const Model = builder.objectRef<{ readonly name: string; readonly default: boolean }>('Model').implement({
  description: 'A model that folds.',
  fields: (t) => ({
    name: t.exposeString(
      'name',
      publicNonNull('record', 'Give it as `model` to submitFold, such as "foldmodel2-2026-05-cutoff-2025".'),
    ),
    default: t.exposeBoolean(
      'default',
      publicNonNull('record', 'Whether it folds what names no model: true for exactly one.'),
    ),
  }),
});

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

const Service = builder.objectRef<Services>('Service').implement({
  description: 'This gateway and the service behind it.',
  fields: (t) => ({
    upstream: t.field({
      ...publicNonNull(
        'record',
        'Address of the upstream without credentials, such as "https://api.example.org".',
      ),
      type: 'URL',
      resolve: ({ upstream }) => upstream.url,
    }),
    version: t.string({
      ...publicNonNull('record', 'Version of this gateway, such as "1.0.0".'),
      resolve: () => VERSION,
    }),
    isSandbox: t.boolean({
      public: 'record',
      nullable: false,
      cost: 1,
      description:
        'Whether the upstream is a sandbox, whose structures and scores are geometry and not predictions. ' +
        'One upstream call if the upstream has not answered yet, else none.',
      resolve: isSandbox,
    }),
  }),
});

const Viewer = builder.objectRef<{ readonly principal: string }>('Viewer').implement({
  description: 'The caller. The service does not report its credits, so they are not shown.',
  fields: (t) => ({
    principal: t.exposeString('principal', {
      nullable: false,
      description:
        'Opaque id of the caller, the same for each request with the same token; batches belong to it. ' +
        'Such as "zHVm2n0bq1Yx4kQ7rT9wLgd3sZ8fUe5cJp6oWiAhB0M".',
    }),
  }),
});

builder.queryFields((t) => ({
  models: t.field({
    public: 'record',
    type: [Model],
    nullable: false,
    description: 'The models that fold, the default first. The operator names them (FOLD_MODELS).',
    resolve: (_root, _args, { services: { config } }) =>
      config.FOLD_MODELS.map((name, index) => ({ name, default: index === 0 })),
  }),
  service: t.field({
    semanticNonNull: true,
    ...publicNullable('record', 'This gateway and the service behind it. Null only with an error.'),
    type: Service,
    resolve: (_root, _args, { services }) => services,
  }),
  viewer: t.field({
    type: Viewer,
    description: 'The caller; null without a token.',
    resolve: (_root, _args, { principal }) => (principal === null ? null : { principal }),
  }),
  limits: t.field({
    ...publicNonNull('record', 'Limits of this gateway and its upstream.'),
    type: Limits,
    resolve: (_root, _args, { services: { config } }) => config,
  }),
}));
