// The JSON of a folding result as it came, with its large matrices in a compact form: as lists a
// PAE of 2,000 tokens takes three times the memory.
import { type Members, readMembers } from './fields.ts';
import { type Matrix, toLists, toMatrix } from './matrix.ts';

const MATRIX_NAMES = ['pae', 'output_embedding_sequence', 'output_embedding_pair_pooled'] as const;

export type MatrixName = (typeof MATRIX_NAMES)[number];

export interface RawFold {
  /** The JSON, with null in place of each matrix. */
  readonly value: unknown;
  readonly matrices: Readonly<Partial<Record<MatrixName, Matrix>>>;
}

/** Puts members in place of those of a result, in its envelope if it has one. */
const withMembers = (value: unknown, members: Members): unknown =>
  readMembers(value) === value || typeof value !== 'object' ? members : { ...value, data: members };

/** Takes the matrices out of a result; a list that is no matrix stays where it is. */
export function liftMatrices(value: unknown, members: Members): RawFold {
  const matrices: Partial<Record<MatrixName, Matrix>> = {};
  const rest: Record<string, unknown> = { ...members };
  for (const name of MATRIX_NAMES) {
    const rows = members[name];
    const matrix = Array.isArray(rows) && rows.length > 0 ? toMatrix(rows) : undefined;
    if (matrix === undefined) continue;
    matrices[name] = matrix;
    rest[name] = null;
  }
  return { value: Object.keys(matrices).length === 0 ? value : withMembers(value, rest), matrices };
}

/** Puts back the matrices that a path may lead to. */
function withLists({ value, matrices }: RawFold, keys: readonly string[]): unknown {
  const members = readMembers(value);
  const [member] = members === value ? keys : keys.slice(1);
  const lists = Object.entries(matrices)
    .filter(([name]) => member === undefined || member === name)
    .map(([name, matrix]) => [name, toLists(matrix)]);
  return lists.length === 0 ? value : withMembers(value, { ...members, ...Object.fromEntries(lists) });
}

/**
 * Reads the value at a dotted path. Only own members are read, so that no path leads into built-in
 * objects.
 *
 * @param path - such as `complex.metadata.chain_lookup.0`; empty for the whole
 * @returns null when there is nothing at that path
 */
export function readRaw(raw: RawFold, path = ''): unknown {
  const keys = path === '' ? [] : path.split('.');
  let here = withLists(raw, keys);
  for (const key of keys) {
    if (typeof here !== 'object' || here === null) return null;
    if (Array.isArray(here) ? !/^\d+$/.test(key) : !Object.hasOwn(here, key)) return null;
    here = (here as Members)[key];
  }
  return here ?? null;
}
