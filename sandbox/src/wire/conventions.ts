// The conventions of the sandbox that neither the spec nor a public deployment is known to: each
// convention once, with what the `plain` dialect does instead. A client must be right without every
// one of them.

import type { WireSettings } from './settings.ts';

/**
 * `plain` sends only what the spec says or a public deployment sends; `rich` follows every
 * convention below.
 */
export const DIALECTS = ['plain', 'rich'] as const;
export type Dialect = (typeof DIALECTS)[number];

interface Convention {
  /** The operation, and where in its request or answer. */
  readonly where: string;
  readonly rich: string;
  readonly plain: string;
}

/** Conventions that `plain` does without. */
export const CONVENTIONS = {
  clusterLinks: {
    where: 'Bulk archive, `cluster_info.json`',
    rich: '`proteins` maps each hash to the representative of its cluster',
    plain: 'no `proteins`: which cluster a protein belongs to stands in its own record only',
  },
  clusterDetails: {
    where: 'Bulk archive, `cluster_info.json`',
    rich: 'a cluster has all scalar fields of `/clusters`',
    plain:
      'a cluster has `cluster_size`, `cluster_pct_characterized`, `cluster_mean_domain_coverage`, `cluster_top_pfam_domains` and `protein_name`',
  },
  bulkTopFeatures: {
    where: 'Bulk archive, `features.json`',
    rich: '`top_features` ranks the top features with their labels',
    plain: 'no `top_features`: only the sparse activations that were asked for',
  },
  regionEndExcluded: {
    where: '`residue_regions` of a protein or cluster',
    rich: '`end` is the residue after the last',
    plain: '`end` is the last residue',
  },
  thumbnailEtag: {
    where: 'Thumbnail',
    rich: 'an `ETag`, and 304 for the same',
    plain: 'no `ETag`: conditional requests get the whole picture',
  },
  cancelledJobArchive: {
    where: 'Bulk job that was cancelled while pending',
    rich: '`download_url` for what was finished by then',
    plain: 'no `download_url`',
  },
  listBatchId: {
    where: 'List, `data`',
    rich: '`batch_id`',
    plain: 'left out',
  },
  listCreatedAt: {
    where: 'List, `data`',
    rich: '`created_at`',
    plain: 'left out',
  },
  listEmptyPage: {
    where: 'List without `include_responses`',
    rich: '`items` is empty and `cursor` is null',
    plain: 'neither key',
  },
  taskErrorObject: {
    where: 'List and Status, `error` of a failed task',
    rich: 'an object `{code, message}`, out of memory aside',
    plain: 'a text',
  },
  statusArtifacts: {
    where: 'Status of a finished task',
    rich: 'one artifact, `confidence`, and `artifacts_expire_in`',
    plain: 'neither key',
  },
  cancelAnswer: {
    where: 'Cancel, `data`',
    rich: '`{message, batch_id, task_id?, cancelled}`',
    plain: 'an empty object',
  },
  unauthorizedError: {
    where: '401 of the Batch API',
    rich: 'the text stands under `error`',
    plain: 'the text stands under `message`, as in every other refusal',
  },
  resultRange: {
    where: 'Downloads of folding results and artifacts',
    rich: 'byte ranges and an `ETag`',
    plain: 'always the whole file, without `ETag`',
  },
} as const satisfies Record<string, Convention>;

interface Choice {
  readonly where: string;
  readonly choice: string;
  /** The setting that changes it; absent: nothing does. */
  readonly setting?: keyof WireSettings;
}

/**
 * Where neither the spec nor a deployment says what a server does that must do something: the same
 * in both dialects.
 */
export const CHOICES: readonly Choice[] = [
  { where: 'List, page size of the request', choice: '`limit`', setting: 'listLimitField' },
  { where: 'List, cursor of the request', choice: '`cursor`', setting: 'listCursorField' },
  { where: 'List, items of the page', choice: '`items`', setting: 'listItemsField' },
  { where: 'List, id of an item', choice: '`task_id`', setting: 'listTaskIdField' },
  { where: 'List, `status` of the request', choice: 'one task state' },
  { where: 'Cancel with both ids or neither', choice: '400' },
  { where: 'Cancel of an unknown id', choice: '404' },
  { where: 'Cancel of what is cancelled already', choice: '200, as for the first time' },
  { where: 'Thumbnail of an unknown hash or without structure', choice: '404' },
  { where: 'Thumbnail, size', choice: '512 × 512 pixels' },
  { where: 'Similarity search without `min_similarity`', choice: 'no floor' },
  { where: 'Bulk look-up, unique hashes that are answered at once', choice: '100', setting: 'jobThreshold' },
];

export type ConventionName = keyof typeof CONVENTIONS;

const isConvention = (name: string): name is ConventionName => Object.hasOwn(CONVENTIONS, name);

/** The conventions that a dialect follows. */
export const listConventions = (dialect: Dialect): ReadonlySet<ConventionName> =>
  new Set(dialect === 'rich' ? Object.keys(CONVENTIONS).filter(isConvention) : []);
