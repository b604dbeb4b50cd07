// startBulkLookup: reads and checks what is asked for, starts the look-up, and says why it
// was not started.
import type { GatewayContext } from '../../context.ts';
import { type BulkLookup as BulkLookupRecord, type BulkRequest, MAX_HASHES } from '../../lookups/lookup.ts';
import type { BulkLimitExcess, BulkLimitName } from '../../lookups/quota.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import {
  InvalidInput,
  type InvalidInputShape,
  type IssueShape,
  notSent,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from '../../schema/problem.ts';
import { BULK_HASHES } from '../../upstream/proteins/protein-plan.ts';
import { resolveIdentifiers, resolvingCalls } from '../atlas/identifier.ts';
import { OF_THE_OPERATOR } from '../folds/submit-result.ts';
import { BulkLookup } from './bulk-lookup.ts';

const BulkLookupInput = builder.inputType('BulkLookupInput', {
  description:
    'What to look up. Leave out what is not needed: structures and activations are most of an answer.',
  fields: (t) => ({
    ids: t.stringList({
      description:
        '1 to 50,000 hashes, UniProt accessions, entry names and sequences, mixed and in any order, as ' +
        '`lookup` reads them; each protein is sent once. An accession costs one call before the look-up ' +
        'starts. What names no protein is an issue with its position, and nothing is started.',
    }),
    hashes: t.field({
      type: ['ProteinHash'],
      deprecationReason: 'Use `ids`. Removed after 2027-05-31.',
      description: 'The same with hashes only, instead of `ids`.',
    }),
    topFeatures: t.int({ defaultValue: 10, description: 'Top features of each protein, 1 to 100.' }),
    structure: t.boolean({
      defaultValue: true,
      description: 'Structure as PDB, pTM and pLDDT along the sequence.',
    }),
    clusterInfo: t.boolean({ defaultValue: true, description: 'The cluster of each protein.' }),
    sequence: t.boolean({ defaultValue: true, description: 'The amino-acid sequence and the accession.' }),
    proteinFeatures: t.boolean({
      defaultValue: true,
      description: 'Feature activations of the whole protein.',
    }),
    residueFeatures: t.boolean({
      defaultValue: true,
      description:
        'Feature activations along the sequence: the largest part of the archives, in no TSV or NDJSON row.',
    }),
  }),
});

/** A limit of the gateway that one more look-up would exceed. */
interface BulkLookupLimitShape extends ProblemBase<'BulkLookupLimit'> {
  readonly limit: BulkLimitName;
  readonly allowed: number;
  readonly retryAfterSeconds: number | null;
}

const BulkLookupLimitName = builder.enumType('BulkLookupLimitName', {
  description: 'A limit on bulk look-ups.',
  values: enumValues<BulkLimitName>({
    RUNNING_PER_CALLER: 'Look-ups of one caller that have not ended.',
    KEPT_PER_CALLER: 'Look-ups of one caller that are stored, ended ones included.',
    BYTES_PER_CALLER: 'Bytes of the store that the look-ups of one caller use.',
    RUNNING_TOTAL: 'Look-ups of all callers that have not ended.',
    BYTES_TOTAL: 'Bytes of the store that the look-ups of all callers use.',
  }),
});

const BulkLookupLimit = builder.objectRef<BulkLookupLimitShape>('BulkLookupLimit').implement({
  description: 'Another bulk look-up would exceed a limit of this gateway. Nothing was started.',
  interfaces: [Problem],
  fields: (t) => ({
    limit: t.expose('limit', {
      ...nonNull('The limit that would be exceeded.'),
      type: BulkLookupLimitName,
    }),
    allowed: t.exposeInt('allowed', nonNull('The value of that limit, such as 20.')),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description:
        'Seconds until room is freed by itself; null when that depends on look-ups that have to end first.',
    }),
  }),
});

const BulkLookupResult = builder.unionType('BulkLookupResult', {
  types: [BulkLookup, InvalidInput, Refused, BulkLookupLimit],
  description: 'Result of startBulkLookup.',
  resolveType: (value) => ('kind' in value ? value.kind : 'BulkLookup'),
});

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

/** @param list - the argument that gave them */
function issuesOf({ hashes, options }: BulkRequest, list: 'ids' | 'hashes'): IssueShape[] {
  const { top, ...parts } = options;
  const issues: IssueShape[] = [];
  if (hashes.length === 0)
    issues.push({ path: list, code: 'TOO_FEW', message: 'There are no proteins to look up.' });
  if (hashes.length > MAX_HASHES)
    issues.push({
      path: list,
      code: 'TOO_MANY',
      message: `There are ${hashes.length} ${list}; one look-up takes ${MAX_HASHES}.`,
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

/** The refusal when the upstream refused the first part; otherwise null. */
function refusalOf({ parts: [first] }: BulkLookupRecord): RefusedShape | null {
  if (first?.state !== 'FAILED' || first.sent > 0 || first.problem === null) return null;
  const { code, message } = first.problem;
  const hint = code === 'UPSTREAM_DRIFT' ? OF_THE_OPERATOR : null;
  // 401 is drift: the Atlas is sent no key.
  const reason = code === 'FORBIDDEN' ? 'FORBIDDEN' : 'INVALID_REQUEST';
  return { kind: 'Refused', message, hint, reason, retryable: false };
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

const STORE_FAILED = notSent(
  "The gateway's store accepts no writes at present, so the gateway could not follow the look-up. It " +
    'was not started.',
  'Try again in a while.',
);

/** Starts a look-up. @returns it, or why it was not started */
async function startBulkLookup(
  ctx: GatewayContext,
  input: Input,
): Promise<BulkLookupRecord | InvalidInputShape | RefusedShape | BulkLookupLimitShape> {
  const asked = await hashesOf(ctx, input);
  const { issues: unresolved } = asked;
  const ask = askOf(asked, input);
  const issues = unresolved.length > 0 ? unresolved : issuesOf(ask, input.hashes == null ? 'ids' : 'hashes');
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

builder.mutationField('startBulkLookup', (t) =>
  t.field({
    type: BulkLookupResult,
    // Each part is sent, polled and downloaded.
    cost: ({ input: { ids, hashes } }) => ({
      calls:
        3 * Math.ceil((ids ?? hashes ?? []).length / BULK_HASHES) + resolvingCalls(ids ?? [], MAX_HASHES),
    }),
    description:
      'Looks up as many as 50,000 proteins. It runs to its end by itself, also over a restart of the ' +
      'gateway: follow it with bulkLookupProgress. Needs no token. Null only with an error.',
    args: {
      input: t.arg({ type: BulkLookupInput, required: true, description: 'The proteins to look up.' }),
    },
    resolve: (_, { input }, ctx) => startBulkLookup(ctx, input),
  }),
);
