// Bulk look-ups: starting, reading, cancelling and watching them, and where their parts are served.

import {
  completedCount,
  hasArchive,
  hasEnded,
  MAX_HASHES,
  RETENTION_MS,
  stateOf,
} from '../../lookups/lookup.ts';
import { builder } from '../../schema/builder.ts';
import {
  BulkLookup,
  BulkLookupInput,
  BulkLookupPart,
  BulkLookupResult,
  BulkLookupState,
  CancelBulkLookupResult,
} from '../../schema/bulk-lookup.ts';
import { notFound, notFoundError } from '../../schema/problem.ts';
import { badInput } from '../../schema/scalars.ts';
import { BULK_HASHES } from '../../upstream/proteins/protein-loader.ts';
import { resolvingCalls, startBulkLookup } from './start-bulk-lookup.ts';

/** @throws GraphQLError BAD_USER_INPUT for an empty id, as for those of batches and tasks */
function readLookupId(lookupId: string): string {
  if (lookupId.trim() === '') throw badInput('`lookupId` is empty. Give an id as startBulkLookup gave it.');
  return lookupId;
}

builder.objectFields(BulkLookup, (t) => ({
  state: t.field({
    type: BulkLookupState,
    nullable: false,
    description:
      'State of the look-up, derived from its parts. Also COMPLETE after a cancellation that came too ' +
      'late.',
    resolve: stateOf,
  }),
  completedCount: t.int({
    nullable: false,
    description: 'Hashes that the upstream has processed, found or not; duplicates are not counted.',
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
}));

builder.objectFields(BulkLookupPart, (t) => ({
  url: t.field({
    type: 'URL',
    description:
      "Address of the part's zip archive at the gateway, which gets a fresh signed address from the " +
      'upstream for every download. Null until the part is complete. The archive of a cancelled part ' +
      'holds what was finished, if anything.',
    resolve: ({ lookup, index, part }, _, { publicUrl }) =>
      hasArchive(part) ? `${publicUrl}/bulk/${lookup.lookupId}/${index}.zip` : null,
  }),
  expiresAt: t.field({
    type: 'DateTime',
    description: 'When the archive is deleted: as the upstream says, at the latest 7 days after the start.',
    resolve: ({ lookup, part }) =>
      hasArchive(part)
        ? new Date(Math.min(part.expiresAt ?? Number.POSITIVE_INFINITY, lookup.startedAt + RETENTION_MS))
        : null,
  }),
}));

builder.queryField('bulkLookup', (t) =>
  t.field({
    type: BulkLookup,
    description: 'A bulk look-up by its id; null when there is none, or no more. Costs no upstream call.',
    args: { lookupId: t.arg.id({ required: true, description: 'The `lookupId` from startBulkLookup.' }) },
    resolve: (_, { lookupId }, { services }) => services.bulk.get(readLookupId(lookupId)),
  }),
);

builder.mutationFields((t) => ({
  startBulkLookup: t.field({
    type: BulkLookupResult,
    nullable: false,
    // Each part is sent, polled and downloaded.
    cost: ({ input: { ids, hashes } }) => ({
      calls: 3 * Math.ceil((ids ?? hashes ?? []).length / BULK_HASHES) + resolvingCalls(ids),
    }),
    description:
      'Looks up as many as 50,000 proteins. It runs to its end by itself, also over a restart of the ' +
      'gateway: follow it with bulkLookupProgress. Needs no token.',
    args: {
      input: t.arg({ type: BulkLookupInput, required: true, description: 'The proteins to look up.' }),
    },
    resolve: (_, { input }, ctx) => startBulkLookup(ctx, input),
  }),
  cancelBulkLookup: t.field({
    type: CancelBulkLookupResult,
    nullable: false,
    // One call cancels one part.
    cost: MAX_HASHES / BULK_HASHES,
    description:
      'Cancels the parts that have not finished. Parts that finished in time stay COMPLETE and can be ' +
      'downloaded.',
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
