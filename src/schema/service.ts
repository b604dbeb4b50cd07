// What there is to know before asking: the service, its models, its limits, and the caller.
import { builder } from './builder.ts';

export interface LimitsShape {
  readonly maxItems: number;
  readonly maxTasks: number;
  readonly queueDeadlineHours: number;
  readonly resultRetentionDays: number;
  readonly maxBulkHashes: number;
  readonly maxSimilaritySequenceLength: number;
  readonly maxQueryDepth: number;
  readonly maxQueryCost: number;
  readonly maxBulkLookupHashes: number;
  readonly maxBulkLookupsRunning: number | null;
  readonly maxBulkLookupsKept: number | null;
  readonly maxBulkLookupBytes: number | null;
  readonly maxAnswerValues: number;
  readonly maxAnswerBytes: number;
  readonly maxSearchWords: number;
  readonly batchApiVersion: string | null;
  readonly atlasApiVersion: string | null;
}

export const Limits = builder.objectRef<LimitsShape>('Limits').implement({
  description: 'Limits of this gateway and its upstream.',
  fields: (t) => ({
    maxItems: t.exposeInt('maxItems', {
      public: 'record',
      nullable: false,
      description: 'Items of one submission, such as 2000.',
    }),
    maxTasks: t.exposeInt('maxTasks', {
      public: 'record',
      nullable: false,
      description: 'Tasks of one submission: items times repeats, such as 2000.',
    }),
    queueDeadlineHours: t.exposeInt('queueDeadlineHours', {
      public: 'record',
      nullable: false,
      description: 'Hours after which a task that has not started is cancelled, such as 24.',
    }),
    resultRetentionDays: t.exposeInt('resultRetentionDays', {
      public: 'record',
      nullable: false,
      description: 'Days after submission during which the upstream stores results, such as 31.',
    }),
    maxBulkHashes: t.exposeInt('maxBulkHashes', {
      public: 'record',
      nullable: false,
      description: 'Proteins in one bulk call to the upstream, such as 500; the gateway splits longer lists.',
    }),
    maxSimilaritySequenceLength: t.exposeInt('maxSimilaritySequenceLength', {
      public: 'record',
      nullable: false,
      description: 'Residues of a sequence for similarity search, such as 1024.',
    }),
    maxQueryDepth: t.exposeInt('maxQueryDepth', {
      public: 'record',
      nullable: false,
      description: 'Levels of one GraphQL query, such as 12.',
    }),
    batchApiVersion: t.exposeString('batchApiVersion', {
      public: 'record',
      description: 'Version of the upstream\'s Batch API, such as "v1"; null where its path names none.',
    }),
    atlasApiVersion: t.exposeString('atlasApiVersion', {
      public: 'record',
      description:
        'Version of the upstream\'s Atlas API, such as "v1alpha1"; null where its path names none.',
    }),
    maxQueryCost: t.exposeInt('maxQueryCost', {
      public: 'record',
      nullable: false,
      description: 'Upstream calls that one GraphQL query may cost, in the worst case, such as 12000.',
    }),
    maxAnswerValues: t.exposeInt('maxAnswerValues', {
      public: 'record',
      nullable: false,
      description: 'Fields and list members that one answer may contain.',
    }),
    maxAnswerBytes: t.exposeInt('maxAnswerBytes', {
      public: 'record',
      nullable: false,
      description: 'Bytes of text that one answer may contain; text that is not streamed counts four times.',
    }),
    maxSearchWords: t.exposeInt('maxSearchWords', {
      public: 'record',
      nullable: false,
      description: 'Different words of a feature search, such as 12.',
    }),
    maxBulkLookupHashes: t.exposeInt('maxBulkLookupHashes', {
      public: 'record',
      nullable: false,
      description: 'Hashes of one bulk look-up, such as 50000.',
    }),
    maxBulkLookupsRunning: t.exposeInt('maxBulkLookupsRunning', {
      public: 'record',
      description: 'Bulk look-ups of one caller that have not ended; null where there is no limit.',
    }),
    maxBulkLookupsKept: t.exposeInt('maxBulkLookupsKept', {
      public: 'record',
      description: 'Bulk look-ups of one caller that are stored; null where there is no limit.',
    }),
    maxBulkLookupBytes: t.exposeInt('maxBulkLookupBytes', {
      public: 'record',
      description:
        'Bytes of the store that the look-ups of one caller may use, about 36 for each hash; null ' +
        'where there is no limit.',
    }),
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
    name: t.exposeString('name', {
      public: 'record',
      nullable: false,
      description: 'Give it as `model` to submitFold, such as "foldmodel2-2026-05-cutoff-2025".',
    }),
    default: t.exposeBoolean('default', {
      public: 'record',
      nullable: false,
      description: 'Whether it folds what names no model: true for exactly one.',
    }),
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
    version: t.exposeString('version', {
      public: 'record',
      nullable: false,
      description: 'Version of this gateway, such as "0.1.0".',
    }),
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
