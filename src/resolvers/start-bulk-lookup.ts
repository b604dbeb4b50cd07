// startBulkLookup: checks the input and sends it in parts.
import type { GatewayContext } from '../context.ts';
import { type BulkLookupOptions, MAX_LOOKUP_HASHES } from '../lookups/bulk-lookup.ts';
import { builder } from '../schema/builder.ts';
import { InvalidInput, invalidInput, notSent, Refused } from '../schema/problem.ts';
import { createAddIssue, type Issue } from '../submission/issues.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { BULK_HASHES } from '../upstream/proteins/plan.ts';
import { BulkLookup } from './bulk-lookup.ts';
import { countDistinct } from './costs.ts';

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
const readOptions = (input: typeof BulkLookupInput.$inferInput): BulkLookupOptions => ({
  top: input.topFeatures ?? 10,
  structure: input.structure ?? true,
  cluster: input.clusterInfo ?? true,
  sequence: input.sequence ?? true,
  proteinFeatures: input.proteinFeatures ?? true,
  residueFeatures: input.residueFeatures ?? true,
});

function checkInput(hashes: readonly string[], { top, ...parts }: BulkLookupOptions): readonly Issue[] {
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
