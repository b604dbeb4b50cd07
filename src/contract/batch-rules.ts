// The contract of the values in Batch API answers and folding results: ranges, forms and relations.
import { isFields } from '../upstream/renames.ts';
import {
  agree,
  asAsked,
  between,
  LINK,
  lengthOf,
  matching,
  notNegative,
  unit,
  type ValueRule,
  within,
} from './rules.ts';

const time = (path: string): ValueRule =>
  matching(path, /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/, 'an ISO 8601 time', 'null');

const deadlines: readonly ValueRule[] = [
  time('data.expires_at'),
  time('data.results_expire_at'),
  within(
    'data.results_expire_at',
    'later than expires_at',
    ({ expires_at: queue, results_expire_at: results }) =>
      typeof queue === 'string' && typeof results === 'string'
        ? Date.parse(results) > Date.parse(queue)
        : undefined,
  ),
];

const perToken = (key: string, effect?: ValueRule['effect']): ValueRule =>
  within(
    key,
    'a row for each token, or for each atom of a ligand',
    ({ [key]: rows, complex }) => {
      if (!isFields(complex)) return undefined;
      // Chain breaks have a slot of their own, which is null.
      const count = lengthOf(Array.isArray(rows) ? rows.filter((row) => row !== null) : rows);
      const [tokens, atoms] = [lengthOf(complex.sequence), lengthOf(complex.atom_names)];
      if (!count || tokens === undefined || atoms === undefined) return undefined;
      return count >= tokens && count <= Math.max(tokens, atoms);
    },
    effect,
  );

const asLongAs = (key: string, other: string, expected: string): ValueRule =>
  within(`complex.${key}`, expected, ({ [key]: a, [other]: b }) => agree(lengthOf(a), lengthOf(b)));

export const BATCH_RULES = {
  submit: [
    // The tasks are then those of List.
    asAsked('data.total_items', 'the number of items that were sent', 'total', 'elsewhere'),
    within(
      'data.task_id',
      'there for one item',
      ({ task_id: id }, { total }) => (total === 1 ? typeof id === 'string' && id !== '' : undefined),
      'elsewhere',
    ),
  ],
  list: [
    asAsked('data.batch_id', 'the batch that was asked for', 'batchId'),
    within('data.counts', 'all items of the batch', ({ counts }, { total }) => {
      if (total === undefined || !isFields(counts)) return undefined;
      const numbers = Object.values(counts).filter((count) => typeof count === 'number');
      return numbers.reduce((sum, count) => sum + count, 0) === total;
    }),
    within(
      'data.items',
      'a page that agrees with counts',
      ({ items, cursor }, { total }) =>
        total === undefined || cursor != null ? undefined : Array.isArray(items) && items.length === total,
      'drift',
    ),
    within('data.items[].task_id', 'not empty', ({ task_id: id }) =>
      typeof id === 'string' ? id !== '' : undefined,
    ),
    ...deadlines,
  ],
  status: [
    within(
      'data.response',
      'a result once the task is done',
      ({ status, response }) =>
        typeof status === 'string' && status.toLowerCase() === 'done'
          ? response != null && response !== ''
          : undefined,
      'drift',
    ),
    matching('data.artifacts.*', LINK, 'an address'),
    notNegative('data.artifacts_expire_in'),
    ...deadlines,
  ],
  cancel: [notNegative('data.cancelled')],
  result: [
    unit('ptm', 'drift'),
    unit('interface_ptm', 'drift'),
    // The scale is found out.
    unit('plddt[]', 'none'),
    unit('complex.plddt[]', 'none'),
    between('pae[][]', 0, 100),
    unit('pair_chains_iptm[][]', 'drift'),
    asLongAs('atom_positions', 'atom_names', 'as many as atom_names'),
    asLongAs('atom_elements', 'atom_names', 'as many as atom_names'),
    asLongAs('token_to_atoms', 'sequence', 'one for each token'),
    asLongAs('chain_id', 'sequence', 'one for each token'),
    asLongAs('plddt', 'sequence', 'one for each token'),
    perToken('plddt'),
    perToken('pae', 'drift'),
    perToken('output_embedding_sequence'),
    within(
      'pair_chains_iptm',
      'a row for each chain',
      ({ pair_chains_iptm: rows, complex }) => {
        const chains =
          isFields(complex) && Array.isArray(complex.chain_id) ? new Set(complex.chain_id) : undefined;
        return lengthOf(rows) === 0 ? undefined : agree(lengthOf(rows), chains?.size);
      },
      'drift',
    ),
  ],
} satisfies Record<string, readonly ValueRule[]>;
