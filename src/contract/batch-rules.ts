// The contract of the values in Batch API answers and folding results: ranges, forms and relations.
import {
  agree,
  asAsked,
  between,
  having,
  isFields,
  LINK,
  lengthOf,
  matching,
  numberOf,
  unit,
  type ValueRule,
  within,
} from './rules.ts';

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;
const { POSITIVE_INFINITY: INFINITE } = Number;
const time = (path: string): ValueRule => having('null', matching(path, TIME, 'an ISO 8601 time'));

/** Times of a batch or a task. */
const deadlines: readonly ValueRule[] = [
  time('data.expires_at'),
  time('data.results_expire_at'),
  within(
    'data',
    'results_expire_at',
    'later than expires_at',
    ({ expires_at: queue, results_expire_at: results }) =>
      typeof queue === 'string' && typeof results === 'string'
        ? Date.parse(results) > Date.parse(queue)
        : undefined,
  ),
];

const tokensOf = (complex: unknown): number | undefined =>
  isFields(complex) ? lengthOf(complex.sequence) : undefined;
const atomsOf = (complex: unknown): number | undefined =>
  isFields(complex) ? lengthOf(complex.atom_names) : undefined;

/** Whether a list has a row for each token, or up to one for each atom. */
const isPerToken = (rows: unknown, complex: unknown): boolean | undefined => {
  const [count, tokens, atoms] = [lengthOf(rows), tokensOf(complex), atomsOf(complex)];
  if (count === undefined || tokens === undefined || atoms === undefined) return undefined;
  return count >= tokens && count <= Math.max(tokens, atoms);
};

const perToken = (key: string): ValueRule =>
  within('', key, 'a row for each token, or for each atom of a ligand', (fields) => {
    // Chain breaks have a slot of their own, which is null.
    const rows = fields[key];
    const known = Array.isArray(rows) ? rows.filter((row) => row !== null) : rows;
    return lengthOf(known) === 0 ? undefined : isPerToken(known, fields.complex);
  });

const chainsOf = (complex: unknown): number | undefined =>
  isFields(complex) && Array.isArray(complex.chain_id) ? new Set(complex.chain_id).size : undefined;

/** The rules of each answer of the Batch API, and of the folding result. */
export const BATCH_RULES = {
  submit: [
    // The tasks are then those of List.
    having(
      'elsewhere',
      asAsked('data.total_items', 'the number of items that were sent', ({ total }) => total),
    ),
    having(
      'elsewhere',
      within('data', 'task_id', 'there for one item', ({ task_id: id }, { total }) =>
        total === 1 ? typeof id === 'string' && id !== '' : undefined,
      ),
    ),
  ],
  list: [
    asAsked('data.batch_id', 'the batch that was asked for', ({ batchId }) => batchId),
    within('data', 'counts', 'all items of the batch', ({ counts }, { total }) => {
      if (total === undefined || !isFields(counts)) return undefined;
      return Object.values(counts).reduce<number>((sum, count) => sum + (numberOf(count) ?? 0), 0) === total;
    }),
    having(
      'drift',
      within('data', 'items', 'a page that agrees with counts', ({ items, cursor }, { total }) =>
        total === undefined || cursor != null ? undefined : Array.isArray(items) && items.length === total,
      ),
    ),
    within('data.items[]', 'task_id', 'not empty', ({ task_id: id }) =>
      typeof id === 'string' ? id !== '' : undefined,
    ),
    ...deadlines,
  ],
  status: [
    having(
      'drift',
      within('data', 'response', 'a result once the task is done', ({ status, response }) =>
        typeof status === 'string' && status.toLowerCase() === 'done'
          ? response != null && response !== ''
          : undefined,
      ),
    ),
    matching('data.artifacts.*', LINK, 'an address'),
    between('data.artifacts_expire_in', 0, INFINITE),
    ...deadlines,
  ],
  cancel: [between('data.cancelled', 0, INFINITE)],
  result: [
    having('drift', unit('ptm')),
    having('drift', unit('interface_ptm')),
    // The scale is found out.
    having('none', unit('plddt[]')),
    having('none', unit('complex.plddt[]')),
    between('pae[][]', 0, 100),
    having('drift', unit('pair_chains_iptm[][]')),
    within('complex', 'atom_positions', 'as many as atom_names', ({ atom_positions: a, atom_names: b }) =>
      agree(lengthOf(a), lengthOf(b)),
    ),
    within('complex', 'atom_elements', 'as many as atom_names', ({ atom_elements: a, atom_names: b }) =>
      agree(lengthOf(a), lengthOf(b)),
    ),
    within('complex', 'token_to_atoms', 'one for each token', ({ token_to_atoms: a, sequence: b }) =>
      agree(lengthOf(a), lengthOf(b)),
    ),
    within('complex', 'chain_id', 'one for each token', ({ chain_id: a, sequence: b }) =>
      agree(lengthOf(a), lengthOf(b)),
    ),
    within('complex', 'plddt', 'one for each token', ({ plddt, sequence }) =>
      agree(lengthOf(plddt), lengthOf(sequence)),
    ),
    perToken('plddt'),
    having('drift', perToken('pae')),
    perToken('output_embedding_sequence'),
    within('', 'pair_chains_iptm', 'a row for each chain', ({ pair_chains_iptm: rows, complex }) =>
      lengthOf(rows) === 0 ? undefined : agree(lengthOf(rows), chainsOf(complex)),
    ),
  ],
} as const;
