// Bulk look-ups: starting, reading, cancelling and watching them, and where their parts are served.

import type { GatewayContext } from '../../context.ts';
import {
  type BulkLookup as BulkLookupRecord,
  type BulkRequest,
  completedCount,
  hasArchive,
  hasEnded,
  MAX_HASHES,
  RETENTION_MS,
  stateOf,
} from '../../lookups/lookup.ts';
import type { BulkLimitExcess } from '../../lookups/quota.ts';
import { builder } from '../../schema/builder.ts';
import {
  BulkLookup,
  BulkLookupInput,
  type BulkLookupLimitShape,
  BulkLookupPart,
  BulkLookupResult,
  type BulkLookupResultShape,
  BulkLookupState,
  CancelBulkLookupResult,
} from '../../schema/bulk-lookup.ts';
import { type IssueShape, notFound, notFoundError, type RefusedShape } from '../../schema/problem.ts';
import { badInput } from '../../schema/scalars.ts';
import { BULK_HASHES } from '../../upstream/proteins/protein-loader.ts';
import { readIdentifier, resolveIdentifiers } from '../atlas/identifier.ts';

type Input = typeof BulkLookupInput.$inferInput;

const MOST_FEATURES = 100;
/** Issues that the message of an invalid input repeats. */
const MESSAGES = 3;

/** The longest identifier that the rows repeat: accessions and entry names, no sequences. */
const MAX_SHOWN = 64;

/** What is looked up, and what names none. */
interface Asked extends Pick<BulkRequest, 'hashes' | 'requested'> {
  readonly issues: readonly IssueShape[];
}

/** The input with its defaults, also for an explicit null. */
const askOf = ({ hashes, requested }: Asked, input: Input): BulkRequest => ({
  hashes,
  ...(requested === undefined ? {} : { requested }),
  options: {
    top: input.topFeatures ?? 10,
    structure: input.structure ?? true,
    cluster: input.clusterInfo ?? true,
    sequence: input.sequence ?? true,
    proteinFeatures: input.proteinFeatures ?? true,
    residueFeatures: input.residueFeatures ?? true,
  },
});

function issuesOf({ hashes, options }: BulkRequest): IssueShape[] {
  const { top, ...parts } = options;
  const issues: IssueShape[] = [];
  if (hashes.length === 0)
    issues.push({ path: 'hashes', code: 'TOO_FEW', message: 'There are no proteins to look up.' });
  if (hashes.length > MAX_HASHES)
    issues.push({
      path: 'hashes',
      code: 'TOO_MANY',
      message: `There are ${hashes.length} hashes; one look-up takes ${MAX_HASHES}.`,
      hint: 'Start several.',
    });
  if (!(top >= 1 && top <= MOST_FEATURES))
    issues.push({
      path: 'topFeatures',
      code: 'OUT_OF_RANGE',
      message: `topFeatures must be between 1 and ${MOST_FEATURES}; it is ${top}.`,
      hint: 'To have no features, set proteinFeatures to false.',
    });
  if (!Object.values(parts).includes(true))
    issues.push({
      path: '',
      code: 'NOTHING_ASKED',
      message: 'Everything is left out, so that there is nothing to look up.',
      hint: 'Leave `sequence` on to find out which proteins exist.',
    });
  return issues;
}

/** The hashes of the proteins, or what names none. @throws the failure of a service that is down */
async function hashesOf(ctx: GatewayContext, { ids, hashes }: Input): Promise<Asked> {
  if (ids == null) return { hashes: hashes ?? [], issues: [] };
  if (hashes != null) {
    const message = 'Give `ids` or `hashes`, not both.';
    return { hashes, issues: [{ path: 'ids', code: 'CONFLICT', message }] };
  }
  // Too many are refused by their number, before any is resolved.
  if (ids.length > MAX_HASHES) return { hashes: ids, issues: [] };
  const resolved = await resolveIdentifiers(ctx, ids, 'ids');
  for (const one of resolved) if ('failure' in one) throw one.failure;
  const found = resolved.flatMap((one) => ('hash' in one ? [one.hash] : []));
  const requested = ids.map((id, i) => {
    const text = id.trim();
    return text.length > MAX_SHOWN ? (found[i] ?? '') : text;
  });
  return {
    hashes: found,
    ...(requested.every((id, i) => id === found[i]) ? {} : { requested }),
    issues: resolved.flatMap((one, i): IssueShape[] => {
      if (!('problem' in one)) return [];
      const { message, hint = null, kind } = one.problem;
      const code = kind === 'NotFound' ? 'NOT_FOUND' : 'NOT_AN_IDENTIFIER';
      return [{ path: `ids.${i}`, code, message, hint }];
    }),
  };
}

/** Calls to resolve the accessions. */
const resolvingCalls = (ids: readonly string[] | null | undefined): number =>
  new Set(ids?.filter((id) => 'entry' in readIdentifier(id))).size;

const REASONS: Readonly<Record<string, RefusedShape['reason']>> = {
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  FORBIDDEN: 'FORBIDDEN',
};

/** The refusal when the upstream refused the first part; otherwise null. */
function refusalOf({ parts: [first] }: BulkLookupRecord): RefusedShape | null {
  if (first?.state !== 'FAILED' || first.sent > 0 || first.problem === null) return null;
  const { code, message } = first.problem;
  return { kind: 'Refused', message, reason: REASONS[code] ?? 'INVALID_REQUEST', retryable: false };
}

const LIMITED: Readonly<Record<BulkLimitExcess['limit'], readonly [what: string, hint: string]>> = {
  RUNNING_PER_CALLER: ['of yours may run at the same time', 'Wait until one has ended, or cancel one.'],
  KEPT_PER_CALLER: [
    'of yours can be stored',
    'Put more hashes into one look-up, or wait until the oldest is deleted.',
  ],
  BYTES_PER_CALLER: ['bytes can be stored for your look-ups', 'Wait until the oldest is deleted.'],
  RUNNING_TOTAL: ['of all callers may run at the same time', 'Try again when others have ended.'],
  BYTES_TOTAL: ['bytes can be stored for the look-ups of all callers', 'Try again later.'],
};

function limitOf({ limit, allowed, freeAt }: BulkLimitExcess): BulkLookupLimitShape {
  const [what, hint] = LIMITED[limit];
  return {
    kind: 'BulkLookupLimit',
    message: `At most ${allowed} ${what.startsWith('bytes') ? what : `look-ups ${what}`}.`,
    hint,
    limit,
    allowed,
    retryAfterSeconds: freeAt === null ? null : Math.max(1, Math.ceil((freeAt - Date.now()) / 1000)),
  };
}

const STORE_FAILED: RefusedShape = {
  kind: 'Refused',
  message:
    "The gateway's store accepts no writes at present, so the gateway could not follow the look-up. It " +
    'was not started.',
  hint: 'Try again in a while.',
  reason: 'UNREACHABLE',
  retryable: true,
};

async function start(ctx: GatewayContext, input: Input): Promise<BulkLookupResultShape> {
  const asked = await hashesOf(ctx, input);
  const { issues: unresolved } = asked;
  const ask = askOf(asked, input);
  const issues = unresolved.length > 0 ? unresolved : issuesOf(ask);
  if (issues.length > 0) {
    const more = issues.length > MESSAGES ? ` And ${issues.length - MESSAGES} more.` : '';
    const message =
      issues
        .slice(0, MESSAGES)
        .map((issue) => issue.message)
        .join(' ') + more;
    return { kind: 'InvalidInput', message, issues };
  }
  const { bulk } = ctx.services;
  const lookup = await bulk.start(ask, ctx.storageAccount).catch((error: unknown) => {
    ctx.services.storeFailed('documents', error, ctx.requestId);
    return STORE_FAILED;
  });
  if ('limit' in lookup) return limitOf(lookup);
  if ('kind' in lookup) return lookup;
  const refusal = refusalOf(lookup);
  if (refusal !== null) await bulk.remove(lookup.lookupId);
  return refusal ?? lookup;
}

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
    resolve: (_, { input }, ctx) => start(ctx, input),
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

async function watch(ctx: GatewayContext, lookupId: string): Promise<AsyncIterable<BulkLookupRecord>> {
  const watching = await ctx.services.bulk.watch(readLookupId(lookupId), ctx.clientSignal);
  if (watching === null) throw notFoundError('bulk look-up', lookupId);
  return watching;
}

builder.subscriptionField('bulkLookupProgress', (t) =>
  t.field({
    type: BulkLookup,
    nullable: false,
    cost: 1,
    description:
      'Progress of a bulk look-up: the present state, then every change; the stream ends when the ' +
      'look-up has ended. Needs no token.',
    args: { lookupId: t.arg.id({ required: true, description: 'The `lookupId` from startBulkLookup.' }) },
    subscribe: (_, { lookupId }, ctx) => watch(ctx, lookupId),
    resolve: (lookup) => lookup,
  }),
);
