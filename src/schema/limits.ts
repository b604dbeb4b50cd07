// What this gateway and its upstream allow, as a noun. It calls nothing.
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
  description: 'What is allowed.',
  fields: (t) => ({
    maxItems: t.exposeInt('maxItems', {
      public: 'record',
      nullable: false,
      description: 'Items of one submission.',
    }),
    maxTasks: t.exposeInt('maxTasks', {
      public: 'record',
      nullable: false,
      description: 'Tasks of one submission: items times repeats.',
    }),
    queueDeadlineHours: t.exposeInt('queueDeadlineHours', {
      public: 'record',
      nullable: false,
      description: 'Hours after which a task that has not started is cancelled.',
    }),
    resultRetentionDays: t.exposeInt('resultRetentionDays', {
      public: 'record',
      nullable: false,
      description: 'Days that results are kept after submission.',
    }),
    maxBulkHashes: t.exposeInt('maxBulkHashes', {
      public: 'record',
      nullable: false,
      description: 'Proteins in one bulk call upstream; the gateway splits longer lists.',
    }),
    maxSimilaritySequenceLength: t.exposeInt('maxSimilaritySequenceLength', {
      public: 'record',
      nullable: false,
      description: 'Residues of a sequence for similarity search.',
    }),
    maxQueryDepth: t.exposeInt('maxQueryDepth', {
      public: 'record',
      nullable: false,
      description: 'Levels of one GraphQL query.',
    }),
    batchApiVersion: t.exposeString('batchApiVersion', {
      public: 'record',
      description:
        'Version of the Batch API that the gateway speaks upstream, such as "v1"; null where its path names none.',
    }),
    atlasApiVersion: t.exposeString('atlasApiVersion', {
      public: 'record',
      description:
        'Version of the Atlas API that the gateway speaks upstream, such as "v1alpha1"; null where its path names none.',
    }),
    maxQueryCost: t.exposeInt('maxQueryCost', {
      public: 'record',
      nullable: false,
      description: 'Upstream calls that one GraphQL query may cost, in the worst case.',
    }),
    maxAnswerValues: t.exposeInt('maxAnswerValues', {
      public: 'record',
      nullable: false,
      description: 'Fields and members of lists that one answer may hold.',
    }),
    maxAnswerBytes: t.exposeInt('maxAnswerBytes', {
      public: 'record',
      nullable: false,
      description: 'Bytes of text that one answer may hold; text that is not streamed counts four times.',
    }),
    maxSearchWords: t.exposeInt('maxSearchWords', {
      public: 'record',
      nullable: false,
      description: 'Different words of a search over the features.',
    }),
    maxBulkLookupHashes: t.exposeInt('maxBulkLookupHashes', {
      public: 'record',
      nullable: false,
      description: 'Hashes of one bulk look-up.',
    }),
    maxBulkLookupsRunning: t.exposeInt('maxBulkLookupsRunning', {
      public: 'record',
      description: 'Bulk look-ups of one caller that have not ended; null where there is no limit.',
    }),
    maxBulkLookupsKept: t.exposeInt('maxBulkLookupsKept', {
      public: 'record',
      description: 'Bulk look-ups of one caller that are kept; null where there is no limit.',
    }),
    maxBulkLookupBytes: t.exposeInt('maxBulkLookupBytes', {
      public: 'record',
      description:
        'Bytes that the kept look-ups of one caller may take, about 36 for each hash; null where there is no limit.',
    }),
  }),
});
