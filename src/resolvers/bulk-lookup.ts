// Bulk look-ups: BulkLookup and its parts, startBulkLookup, bulkLookup and cancelBulkLookup.
import { memoize2 } from '@graphql-tools/utils';
import type { GatewayContext } from '../context.ts';
import {
  type BulkLookup as BulkLookupRecord,
  type BulkOptions,
  combineStates,
  MAX_LOOKUP_HASHES,
  MAX_LOOKUP_PARTS,
  type PartStatus,
  readPart,
  type StoredPart,
} from '../lookups/bulk-lookup.ts';
import { builder, enumValues } from '../schema/builder.ts';
import { nonNull } from '../schema/field-options.ts';
import { InvalidInput, invalidInput, NotFound, notFound, notSent, Refused } from '../schema/problem.ts';
import { badInput } from '../schema/scalars.ts';
import { createAddIssue, type Issue } from '../submission/issues.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { BULK_HASHES } from '../upstream/proteins/plan.ts';
import { countDistinct } from './costs.ts';

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
        ...(await readPart(up, lookup, part)),
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

const BulkLookup = builder.objectRef<BulkLookupRecord>('BulkLookup');

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

const BulkLookupInput = builder.inputType('BulkLookupInput', {
  description:
    'What to look up. Leave out what is not needed: structures and activations are most of an archive.',
  fields: (t) => ({
    hashes: t.field({
      type: ['ProteinHash'],
      required: true,
      description: '1 to 50,000 hashes in any order; a repeated one is sent once.',
    }),
    topFeatures: t.int({ defaultValue: 10, description: 'Top features of each protein, 1 to 100.' }),
    structure: t.boolean({
      defaultValue: true,
      description: 'Structure as PDB, pTM and pLDDT along the sequence.',
    }),
    clusterInfo: t.boolean({ defaultValue: true, description: 'The cluster of each protein.' }),
    sequence: t.boolean({
      defaultValue: true,
      description: 'Sequence and accession. Only this list proves which of the proteins exist.',
    }),
    proteinFeatures: t.boolean({
      defaultValue: true,
      description: 'Feature activations of the whole protein.',
    }),
    residueFeatures: t.boolean({
      defaultValue: true,
      description: 'Feature activations along the sequence: the largest part of an archive.',
    }),
  }),
});

const BulkLookupResult = builder.unionType('BulkLookupResult', {
  types: [BulkLookup, InvalidInput, Refused],
  description: 'Result of startBulkLookup.',
  resolveType: (value) => ('kind' in value ? value.kind : 'BulkLookup'),
});

const MAX_FEATURES = 100;

/** The options with their defaults, also for an explicit null. */
const readOptions = (input: typeof BulkLookupInput.$inferInput): BulkOptions => ({
  top: input.topFeatures ?? 10,
  structure: input.structure ?? true,
  cluster: input.clusterInfo ?? true,
  sequence: input.sequence ?? true,
  proteinFeatures: input.proteinFeatures ?? true,
  residueFeatures: input.residueFeatures ?? true,
});

function checkInput(hashes: readonly string[], { top, ...parts }: BulkOptions): readonly Issue[] {
  const issues: Issue[] = [];
  const add = createAddIssue(issues);
  const { length } = hashes;
  if (length === 0) add('hashes', 'TOO_FEW', 'There are no proteins to look up.');
  if (length > MAX_LOOKUP_HASHES) {
    const message = `There are ${length} hashes; one look-up takes ${MAX_LOOKUP_HASHES}.`;
    add('hashes', 'TOO_MANY', message, 'Start several.');
  }
  if (!(top >= 1 && top <= MAX_FEATURES)) {
    const message = `topFeatures must be between 1 and ${MAX_FEATURES}; it is ${top}.`;
    const hint = 'To have no features, set proteinFeatures and residueFeatures to false.';
    add('topFeatures', 'OUT_OF_RANGE', message, hint);
  }
  if (!Object.values(parts).includes(true)) {
    const message = 'Everything is left out, so that there is nothing to look up.';
    add('', 'NOTHING_ASKED', message, 'Leave `sequence` on to find out which proteins exist.');
  }
  return issues;
}

const STORE_FAILED = notSent(
  "The gateway's store accepts no writes at present, so the look-up could not be kept.",
  'Try again in a while.',
);

async function startBulkLookup(
  { services, upstream, requestId }: GatewayContext,
  input: typeof BulkLookupInput.$inferInput,
): Promise<typeof BulkLookupResult.$inferType> {
  const options = readOptions(input);
  const issues = checkInput(input.hashes, options);
  if (issues.length > 0) return invalidInput(issues, issues.map(({ message }) => message).join(' '));
  try {
    return await services.lookups.start(upstream, input.hashes, options);
  } catch (error) {
    if (error instanceof UpstreamError) {
      const { code } = error.failure;
      if (code !== 'FORBIDDEN' && code !== 'BAD_USER_INPUT') throw error;
      const reason = code === 'FORBIDDEN' ? 'FORBIDDEN' : 'INVALID_REQUEST';
      return { kind: 'Refused', message: error.message, reason, retryable: false };
    }
    services.storeFailed('documents', error, requestId);
    return STORE_FAILED;
  }
}

builder.mutationField('startBulkLookup', (t) =>
  t.field({
    type: BulkLookupResult,
    cost: ({ input: { hashes } }) => ({ calls: Math.ceil(countDistinct(hashes) / BULK_HASHES) }),
    semanticNonNull: true,
    description:
      'Sends up to 50,000 hashes as jobs to the upstream, 500 in each, without a token; read `bulkLookup` ' +
      'until its parts are COMPLETE, then download them. Null only with an error.',
    args: {
      input: t.arg({ type: BulkLookupInput, required: true, description: 'The proteins to look up.' }),
    },
    resolve: (_, { input }, ctx) => startBulkLookup(ctx, input),
  }),
);
