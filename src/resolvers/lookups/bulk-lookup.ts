// Bulk look-ups: what they are, reading, cancelling and watching them, and where their parts are
// served. start-bulk-lookup.ts starts them.
import {
  type BulkLookup as BulkLookupRecord,
  type BulkPart,
  completedCount,
  hasArchive,
  hasEnded,
  MAX_HASHES,
  RETENTION_MS,
  stateOf,
} from '../../lookups/lookup.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { NotFound, notFound, notFoundError } from '../../schema/problem.ts';
import { badInput } from '../../schema/scalars.ts';
import { BULK_HASHES } from '../../upstream/proteins/protein-plan.ts';

/** A part and its place: `lookup.parts[index]`. */
interface BulkPartShape extends BulkPart {
  readonly lookup: BulkLookupRecord;
  /** 0-based. */
  readonly index: number;
}

const BulkLookupState = builder.enumType('BulkLookupState', {
  description: 'Where a bulk look-up, or a part of it, is.',
  values: enumValues({
    PENDING: 'In progress.',
    COMPLETE: 'All results are ready to download.',
    CANCEL_REQUESTED: 'You cancelled it; the upstream has not confirmed yet. A minute later it is CANCELLED.',
    CANCELLED: 'Cancelled before it finished. Parts that had finished stay COMPLETE.',
    FAILED: 'It failed; `problem` of the part says why.',
    EXPIRED: 'It was complete; the upstream has deleted its results since.',
    UNKNOWN: 'The upstream reports a state that this gateway does not know.',
  }),
});

const BulkLookupPart = builder.objectRef<BulkPartShape>('BulkLookupPart').implement({
  description: 'At most 500 proteins of a bulk look-up.',
  fields: (t) => ({
    jobId: t.exposeID('jobId', {
      description:
        "The upstream's id of the job; null before it is sent, and when the upstream answered at once.",
    }),
    state: t.expose('state', { ...nonNull('Where the part is.'), type: BulkLookupState }),
    requestedCount: t.exposeInt('requested', nonNull('Hashes in this part, 1 to 500.')),
    completedCount: t.exposeInt('completed', {
      description: 'How many of them the upstream has processed, found or not.',
    }),
    problem: t.string({
      description: 'Why the part failed, in one sentence; null unless it did.',
      resolve: ({ problem }) => problem?.message,
    }),
    url: t.field({
      type: 'URL',
      description:
        "Address of the part's zip archive at the gateway, which gets a fresh signed address from the " +
        'upstream for every download. Null until the part is complete. The archive of a cancelled part ' +
        'holds what was finished, if anything.',
      resolve: (part, _, { publicUrl }) =>
        hasArchive(part) ? `${publicUrl}/bulk/${part.lookup.lookupId}/${part.index}.zip` : null,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the archive is deleted: as the upstream says, at the latest 7 days after the start.',
      resolve: (part) =>
        hasArchive(part)
          ? new Date(
              Math.min(part.expiresAt ?? Number.POSITIVE_INFINITY, part.lookup.startedAt + RETENTION_MS),
            )
          : null,
    }),
  }),
});

export const BulkLookup = builder.objectRef<BulkLookupRecord>('BulkLookup').implement({
  description:
    'A look-up of up to 50,000 hashes, sent in parts of at most 500 and stored for 7 days. Its id is a ' +
    'secret of 144 random bits: everyone with the id can read and cancel it.',
  fields: (t) => ({
    lookupId: t.exposeID('lookupId', nonNull('Id for `bulkLookup`, such as "q3bWzB0uX1n2Yc8k5mTLd9Rs".')),
    requestedCount: t.exposeInt('requestedCount', {
      nullable: false,
      description: 'Number of hashes that you gave, duplicates included, such as 5000.',
    }),
    duplicateCount: t.exposeInt('duplicateCount', {
      nullable: false,
      description: 'How many of them repeat an earlier one; the gateway does not send those.',
    }),
    parts: t.field({
      ...nonNull('The parts, in the order of the hashes.'),
      type: [BulkLookupPart],
      resolve: (lookup) => lookup.parts.map((part, index) => ({ ...part, lookup, index })),
    }),
    state: t.field({
      type: BulkLookupState,
      nullable: false,
      description:
        'State of the look-up, derived from its parts. Also COMPLETE after a cancellation that came too ' +
        'late.',
      resolve: stateOf,
    }),
    completedCount: t.int({
      ...nonNull('Hashes that the upstream has processed, found or not; duplicates are not counted.'),
      resolve: completedCount,
    }),
    ndjsonUrl: t.field({
      type: 'URL',
      description:
        'Address of one JSON object a line for each hash, in your order; null until the look-up has ended.',
      resolve: (lookup, _, { publicUrl }) =>
        hasEnded(stateOf(lookup)) ? `${publicUrl}/bulk/${lookup.lookupId}.ndjson` : null,
    }),
    tsvUrl: t.field({
      type: 'URL',
      description:
        'Address of the same as a tab-separated table with a header; null until the look-up has ended.',
      resolve: (lookup, _, { publicUrl }) =>
        hasEnded(stateOf(lookup)) ? `${publicUrl}/bulk/${lookup.lookupId}.tsv` : null,
    }),
  }),
});

const CancelBulkLookupResult = builder.unionType('CancelBulkLookupResult', {
  types: [BulkLookup, NotFound],
  description: 'Result of cancelBulkLookup.',
  resolveType: (value) => ('kind' in value ? value.kind : 'BulkLookup'),
});

/** @throws GraphQLError BAD_USER_INPUT for an empty id, as for those of batches and tasks */
function readLookupId(lookupId: string): string {
  if (lookupId.trim() === '') throw badInput('`lookupId` is empty. Give an id as startBulkLookup gave it.');
  return lookupId;
}

builder.queryField('bulkLookup', (t) =>
  t.field({
    type: BulkLookup,
    description: 'A bulk look-up by its id; null when there is none, or no more. Costs no upstream call.',
    args: { lookupId: t.arg.id({ required: true, description: 'The `lookupId` from startBulkLookup.' }) },
    resolve: (_, { lookupId }, { services }) => services.bulk.get(readLookupId(lookupId)),
  }),
);

builder.mutationFields((t) => ({
  cancelBulkLookup: t.field({
    type: CancelBulkLookupResult,
    // One call cancels one part.
    cost: MAX_HASHES / BULK_HASHES,
    description:
      'Cancels the parts that have not finished. Parts that finished in time stay COMPLETE and can be ' +
      'downloaded. Null only with an error.',
    args: { lookupId: t.arg.id({ required: true, description: 'The `lookupId` from startBulkLookup.' }) },
    resolve: async (_, { lookupId }, { services }) =>
      (await services.bulk.cancel(readLookupId(lookupId))) ??
      notFound('bulk look-up', readLookupId(lookupId)),
  }),
}));

builder.subscriptionField('bulkLookupProgress', (t) =>
  t.field({
    type: BulkLookup,
    nullable: false,
    cost: 1,
    description:
      'Progress of a bulk look-up: the present state, then every change; the stream ends when the ' +
      'look-up has ended. Needs no token.',
    args: { lookupId: t.arg.id({ required: true, description: 'The `lookupId` from startBulkLookup.' }) },
    subscribe: async (_, { lookupId }, { services, clientSignal }) => {
      const watched = await services.bulk.watch(readLookupId(lookupId), clientSignal);
      if (watched === null) throw notFoundError('bulk look-up', lookupId);
      return watched;
    },
    resolve: (lookup) => lookup,
  }),
);
