// What there is to know before asking: the service, its models, its limits, and the caller.
import { builder } from './builder.ts';
import { publicNonNull, publicNullable } from './public-fields-plugin.ts';

/** Limits that are always set, and what they are. */
const ALWAYS = {
  maxItems: 'Items of one submission, such as 2000.',
  maxTasks: 'Tasks of one submission: items times repeats, such as 2000.',
  queueDeadlineHours: 'Hours after which a task that has not started is cancelled, such as 24.',
  resultRetentionDays: 'Days after submission during which the upstream stores results, such as 31.',
  maxBulkHashes: 'Proteins in one bulk call to the upstream, such as 500; the gateway splits longer lists.',
  maxSimilaritySequenceLength: 'Residues of a sequence for similarity search, such as 1024.',
  maxQueryDepth: 'Levels of one GraphQL query, such as 12.',
  maxQueryCost: 'Upstream calls that one GraphQL query may cost, in the worst case, such as 12000.',
  maxAnswerValues: 'Fields and list members that one answer may contain.',
  maxAnswerBytes: 'Bytes of text that one answer may contain; text that is not streamed counts four times.',
  maxSearchWords: 'Different words of a feature search, such as 12.',
  maxBulkLookupHashes: 'Hashes of one bulk look-up, such as 50000.',
} as const;

/** Limits that are null where the operator sets none. */
const WHERE_SET = {
  maxBulkLookupsRunning: 'Bulk look-ups of one caller that have not ended; null where there is no limit.',
  maxBulkLookupsKept: 'Bulk look-ups of one caller that are stored; null where there is no limit.',
  maxBulkLookupBytes:
    'Bytes of the store that the look-ups of one caller may use, about 36 for each hash; null ' +
    'where there is no limit.',
} as const;

const VERSIONS = {
  batchApiVersion: 'Version of the upstream\'s Batch API, such as "v1"; null where its path names none.',
  atlasApiVersion:
    'Version of the upstream\'s Atlas API, such as "v1alpha1"; null where its path names none.',
} as const;

type LimitsShape = Readonly<
  Record<keyof typeof ALWAYS, number> &
    Record<keyof typeof WHERE_SET, number | null> &
    Record<keyof typeof VERSIONS, string | null>
>;

/** A field for each key of a table of descriptions. */
const fieldsOf = <K extends string, F>(
  described: Readonly<Record<K, string>>,
  field: (key: K, description: string) => F,
): Record<string, F> =>
  Object.fromEntries((Object.keys(described) as K[]).map((key) => [key, field(key, described[key])]));

export const Limits = builder.objectRef<LimitsShape>('Limits').implement({
  description: 'Limits of this gateway and its upstream.',
  fields: (t) => ({
    ...fieldsOf(ALWAYS, (key, text) => t.exposeInt(key, publicNonNull('record', text))),
    ...fieldsOf(WHERE_SET, (key, text) => t.exposeInt(key, publicNullable('record', text))),
    ...fieldsOf(VERSIONS, (key, text) => t.exposeString(key, publicNullable('record', text))),
  }),
});

/** A model that folds. */
export interface ModelShape {
  readonly name: string;
  readonly default: boolean;
}

export const Model = builder.objectRef<ModelShape>('Model').implement({
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

export interface ServiceShape {
  readonly upstream: string;
  readonly version: string;
}

export const Service = builder.objectRef<ServiceShape>('Service').implement({
  description: 'This gateway and the service behind it.',
  fields: (t) => ({
    upstream: t.expose('upstream', {
      type: 'URL',
      public: 'record',
      nullable: false,
      description: 'Address of the upstream without credentials, such as "https://api.example.org".',
    }),
    version: t.exposeString('version', publicNonNull('record', 'Version of this gateway, such as "0.1.0".')),
  }),
});

export const Viewer = builder.objectRef<{ readonly principal: string }>('Viewer').implement({
  description: 'The caller. The service does not report its credits, so they are not shown.',
  fields: (t) => ({
    principal: t.exposeString('principal', {
      nullable: false,
      description:
        'Opaque id of the caller, the same for each request with the same token; batches belong to it. ' +
        'Such as "zHVm2n0bq1Yx4kQ7rT9wLg".',
    }),
  }),
});
