// BulkLookup and its parts, bulkLookup and cancelBulkLookup.
import { memoize2 } from '@graphql-tools/utils';
import type { GatewayContext } from '../context.ts';
import { type BulkLookup as BulkLookupRecord, MAX_LOOKUP_PARTS } from '../lookups/bulk-lookup.ts';
import { combineStates, type PartStatus, readPart, type StoredPart } from '../lookups/bulk-part.ts';
import { builder, enumValues } from '../schema/builder.ts';
import { nonNull } from '../schema/field-options.ts';
import { NotFound, notFound } from '../schema/problem.ts';
import { badInput } from '../schema/scalars.ts';
import type { Upstream } from '../upstream/http/call.ts';

const BulkLookupState = builder.enumType('BulkLookupState', {
  description: 'Where a bulk look-up, or a part of it, is.',
  values: enumValues({
    PENDING: 'In progress.',
    COMPLETE: 'All results are ready to download.',
    CANCEL_REQUESTED: 'You cancelled it, and the upstream has not confirmed that yet.',
    CANCELLED: 'Cancelled before it finished. Parts that had finished stay COMPLETE.',
    FAILED: 'It failed; `problem` of the part says why.',
    EXPIRED: 'The upstream has deleted the results.',
    UNKNOWN: 'The upstream names a state that this gateway does not know, or could not be asked.',
  }),
});

interface PartShape extends PartStatus, Pick<StoredPart, 'jobId' | 'requestedCount'> {
  readonly lookupId: string;
  /** 0-based. */
  readonly index: number;
}

/** One call for each job, shared by all fields of a look-up. */
const readParts = memoize2(
  (lookup: BulkLookupRecord, up: Upstream): Promise<PartShape[]> =>
    Promise.all(
      lookup.parts.map(async (part, index) => ({
        jobId: part.jobId,
        requestedCount: part.requestedCount,
        ...(await readPart(up, part, lookup.cancelRequested)),
        lookupId: lookup.lookupId,
        index,
      })),
    ),
);

/** @throws UpstreamError when the service could not be asked about one of the parts */
async function readAllParts(lookup: BulkLookupRecord, { upstream }: GatewayContext): Promise<PartShape[]> {
  const parts = await readParts(lookup, upstream);
  for (const { error } of parts) if (error !== undefined) throw error;
  return parts;
}

/** All fields that ask for the jobs share these calls. */
const READ_JOBS = { shared: { jobs: MAX_LOOKUP_PARTS } };

const BulkLookupPart = builder.objectRef<PartShape>('BulkLookupPart').implement({
  description: 'At most 500 proteins of a bulk look-up.',
  fields: (t) => ({
    jobId: t.exposeID('jobId', {
      description: "The upstream's id of the job; null when it answered at once or did not accept the part.",
    }),
    state: t.expose('state', { ...nonNull('Where the part is.'), type: BulkLookupState }),
    requestedCount: t.exposeInt('requestedCount', nonNull('Hashes in this part, 1 to 500.')),
    completedCount: t.exposeInt('completedCount', {
      description:
        'How many of them the upstream has processed, found or not, such as 250; null when it does not say.',
    }),
    problem: t.exposeString('problem', {
      description: 'Why the part failed, or why its state is not known, in one sentence; null otherwise.',
    }),
    url: t.field({
      type: 'URL',
      description:
        'Address of the zip archive at the gateway, which reads it from the upstream for each download. ' +
        'Null where there is none: the part is not complete, or was cancelled before anything finished.',
      resolve: ({ lookupId, index, state, downloadUrl }, _, { publicUrl }) =>
        state === 'COMPLETE' || downloadUrl !== null ? `${publicUrl}/bulk/${lookupId}/${index}.zip` : null,
    }),
  }),
});

export const BulkLookup = builder.objectRef<BulkLookupRecord>('BulkLookup');

builder.node(BulkLookup, {
  description:
    'A look-up of up to 50,000 hashes, sent in parts of at most 500 and stored for 3 days. Its id is a ' +
    'secret of 144 random bits: everyone with the id can read and cancel it.',
  id: { resolve: ({ lookupId }) => lookupId },
  fields: (t) => ({
    lookupId: t.exposeID('lookupId', nonNull('Id for `bulkLookup`, such as "q3bWzB0uX1n2Yc8k5mTLd9Rs".')),
    requestedCount: t.exposeInt('requestedCount', {
      ...nonNull('Different hashes that you gave, such as 5000; the gateway sends each of them once.'),
    }),
    parts: t.field({
      type: [BulkLookupPart],
      nullable: false,
      cost: { ...READ_JOBS, items: MAX_LOOKUP_PARTS },
      description: 'The parts, in the order of the hashes: 500 in each, the rest in the last.',
      resolve: (lookup, _, { upstream }) => readParts(lookup, upstream),
    }),
    state: t.field({
      type: BulkLookupState,
      cost: READ_JOBS,
      semanticNonNull: true,
      description:
        'State of the look-up, derived from its parts; also COMPLETE after a cancellation that came too ' +
        'late. Null only with an error.',
      resolve: async (lookup, _, ctx) =>
        combineStates((await readAllParts(lookup, ctx)).map(({ state }) => state)),
    }),
    completedCount: t.int({
      cost: READ_JOBS,
      semanticNonNull: true,
      description:
        'Hashes that the upstream has processed, found or not, such as 2500. Null only with an error.',
      resolve: async (lookup, _, ctx) =>
        (await readAllParts(lookup, ctx)).reduce((sum, part) => sum + (part.completedCount ?? 0), 0),
    }),
  }),
});

const LOOKUP_ID = { required: true, description: 'The `lookupId` from startBulkLookup.' } as const;

/** @throws GraphQLError BAD_USER_INPUT for an empty id, as for those of batches and tasks */
function readLookupId(lookupId: string): string {
  if (lookupId.trim() === '') throw badInput('`lookupId` is empty. Give an id as startBulkLookup gave it.');
  return lookupId;
}

export const findBulkLookup = ({ services }: GatewayContext, lookupId: string) =>
  services.lookups.get(readLookupId(lookupId));

builder.queryField('bulkLookup', (t) =>
  t.field({
    type: BulkLookup,
    description: 'A bulk look-up by its id; null when there is none, or no more.',
    args: { lookupId: t.arg.id(LOOKUP_ID) },
    resolve: (_, { lookupId }, ctx) => findBulkLookup(ctx, lookupId),
  }),
);

const CancelBulkLookupResult = builder.unionType('CancelBulkLookupResult', {
  types: [BulkLookup, NotFound],
  description: 'Result of cancelBulkLookup.',
  resolveType: (value) => ('kind' in value ? value.kind : 'BulkLookup'),
});

builder.mutationField('cancelBulkLookup', (t) =>
  t.field({
    type: CancelBulkLookupResult,
    cost: MAX_LOOKUP_PARTS,
    semanticNonNull: true,
    description:
      'Cancels the parts that have not finished; parts that finished in time stay COMPLETE and can be ' +
      'downloaded. Null only with an error.',
    args: { lookupId: t.arg.id(LOOKUP_ID) },
    resolve: async (_, { lookupId }, ctx) => {
      const lookup = await findBulkLookup(ctx, lookupId);
      if (lookup === null) return notFound('bulk look-up', lookupId);
      return ctx.services.lookups.cancel(ctx.upstream, lookup);
    },
  }),
);
