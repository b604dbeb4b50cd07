// Bulk look-up types: the request, its progress and its parts. The records are those of
// src/lookups.

import type { BulkLookup as BulkLookupRecord, BulkPart } from '../lookups/lookup.ts';
import type { BulkLimitName } from '../lookups/quota.ts';
import { builder } from './builder.ts';
import {
  InvalidInput,
  type InvalidInputShape,
  NotFound,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from './problem.ts';

/** A part and its position: `lookup.parts[index]`. */
export interface BulkPartShape {
  readonly lookup: BulkLookupRecord;
  /** 0-based. */
  readonly index: number;
  readonly part: BulkPart;
}

export const BulkLookupState = builder.enumType('BulkLookupState', {
  description: 'Where a bulk look-up, or a part of it, is.',
  values: {
    PENDING: { description: 'In progress.' },
    COMPLETE: { description: 'All results are ready to download.' },
    CANCEL_REQUESTED: { description: 'You cancelled it; the upstream has not confirmed yet.' },
    CANCELLED: { description: 'Cancelled before it finished. Parts that had finished stay COMPLETE.' },
    FAILED: { description: 'It failed; `problem` of the part says why.' },
    EXPIRED: { description: 'It was complete; the upstream has deleted its results since.' },
    UNKNOWN: { description: 'The upstream reports a state that this gateway does not know.' },
  } as const,
});

export const BulkLookupPart = builder.objectRef<BulkPartShape>('BulkLookupPart').implement({
  description: 'At most 500 proteins of a bulk look-up.',
  fields: (t) => ({
    jobId: t.id({
      description:
        "The upstream's id of the job; null before it is sent, and when the upstream answered at once.",
      resolve: ({ part }) => part.jobId,
    }),
    state: t.field({
      type: BulkLookupState,
      nullable: false,
      description: 'Where the part is.',
      resolve: ({ part }) => part.state,
    }),
    requestedCount: t.int({
      nullable: false,
      description: 'Hashes in this part, 1 to 500.',
      resolve: ({ part }) => part.requested,
    }),
    completedCount: t.int({
      description: 'How many of them the upstream has processed, found or not.',
      resolve: ({ part }) => part.completed,
    }),
    problem: t.string({
      description: 'Why the part failed, in one sentence; null unless it did.',
      resolve: ({ part }) => part.problem?.message,
    }),
  }),
});

export const BulkLookup = builder.objectRef<BulkLookupRecord>('BulkLookup').implement({
  description:
    'A look-up of up to 50,000 hashes, sent in parts of at most 500 and stored for 7 days. Its id is a ' +
    'secret of 144 random bits: everyone with the id can read and cancel it.',
  fields: (t) => ({
    lookupId: t.exposeID('lookupId', {
      nullable: false,
      description: 'Id for `bulkLookup`, such as "q3bWzB0uX1n2Yc8k5mTLd9Rs".',
    }),
    requestedCount: t.exposeInt('requestedCount', {
      nullable: false,
      description: 'Number of hashes that you gave, duplicates included, such as 5000.',
    }),
    duplicateCount: t.exposeInt('duplicateCount', {
      nullable: false,
      description: 'How many of them repeat an earlier one; the gateway does not send those.',
    }),
    parts: t.field({
      type: [BulkLookupPart],
      nullable: { list: false, items: false },
      description: 'The parts, in the order of the hashes.',
      resolve: (lookup) => lookup.parts.map((part, index) => ({ lookup, index, part })),
    }),
  }),
});

export const BulkLookupInput = builder.inputType('BulkLookupInput', {
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
export interface BulkLookupLimitShape extends ProblemBase<'BulkLookupLimit'> {
  readonly limit: BulkLimitName;
  readonly allowed: number;
  readonly retryAfterSeconds: number | null;
}

const BulkLookupLimitName = builder.enumType('BulkLookupLimitName', {
  description: 'A limit on bulk look-ups.',
  values: {
    RUNNING_PER_CALLER: { description: 'Look-ups of one caller that have not ended.' },
    KEPT_PER_CALLER: { description: 'Look-ups of one caller that are stored, ended ones included.' },
    BYTES_PER_CALLER: { description: 'Bytes of the store that the look-ups of one caller use.' },
    RUNNING_TOTAL: { description: 'Look-ups of all callers that have not ended.' },
    BYTES_TOTAL: { description: 'Bytes of the store that the look-ups of all callers use.' },
  } as const satisfies Record<BulkLimitName, object>,
});

const BulkLookupLimit = builder.objectRef<BulkLookupLimitShape>('BulkLookupLimit').implement({
  description: 'Another bulk look-up would exceed a limit of this gateway. Nothing was started.',
  interfaces: [Problem],
  fields: (t) => ({
    limit: t.expose('limit', {
      type: BulkLookupLimitName,
      nullable: false,
      description: 'The limit that would be exceeded.',
    }),
    allowed: t.exposeInt('allowed', { nullable: false, description: 'The value of that limit, such as 20.' }),
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description:
        'Seconds until room is freed by itself; null when that depends on look-ups that have to end first.',
    }),
  }),
});

/** Results of startBulkLookup. */
export type BulkLookupResultShape =
  | BulkLookupRecord
  | InvalidInputShape
  | RefusedShape
  | BulkLookupLimitShape;

export const BulkLookupResult = builder.unionType('BulkLookupResult', {
  types: [BulkLookup, InvalidInput, Refused, BulkLookupLimit],
  description: 'Result of startBulkLookup.',
  resolveType: (value) => ('kind' in value ? value.kind : 'BulkLookup'),
});

export const CancelBulkLookupResult = builder.unionType('CancelBulkLookupResult', {
  types: [BulkLookup, NotFound],
  description: 'Result of cancelBulkLookup.',
  resolveType: (value) => ('kind' in value ? value.kind : 'BulkLookup'),
});
