// Reads the faults of a 422 (spec, section Errors), each at the argument or path of the GraphQL
// input.
import { isFields } from './json/is-fields.ts';

export interface InputFault {
  /** Argument, or path in the GraphQL input, dotted. */
  readonly path: string;
  /** A word for programs, such as STRING_TOO_SHORT. */
  readonly code: string;
  readonly message: string;
}

/** Arguments by their names on the wire, where these differ. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  protein_hash: 'hash',
  protein_hashes: 'hashes',
  uniprot_id: 'id',
  feature_index: 'index',
  feature_indices: 'indices',
  thumbnail_type: 'type',
  topk_features: 'top',
  topk_results: 'first',
  normalize_features: 'normalize',
  cluster_pct_characterized_max: 'maxPercentCharacterized',
};

const SUBMISSION_FIELDS: Readonly<Record<string, string>> = {
  payload: 'items',
  sequences: 'chains',
  id: 'ids',
  res_idx1: 'residueIndex1',
  res_idx2: 'residueIndex2',
  atom_idx1: 'atomIndex1',
  atom_idx2: 'atomIndex2',
};

const CONTACT = ['chainId', 'residueIndex'];

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function submissionPath(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== 'all_atom_input')
    .map((part, i, all) =>
      all[i - 2] === 'contacts'
        ? (CONTACT[Number(part)] ?? part)
        : (SUBMISSION_FIELDS[part] ?? camelCase(part)),
    )
    .join('.');
}

/** Reported faults of one input; a service may list any number. */
export const MAX_FAULTS = 50;
/** Steps of a `loc` that are looked at, and characters of each. */
const MAX_STEPS = 20;
const MAX_STEP_CHARACTERS = 200;

/** The names and positions of a `loc` as text; skips anything else. */
export const readLoc = (loc: readonly unknown[]): string[] =>
  loc
    .slice(0, MAX_STEPS)
    .filter((step) => typeof step === 'string' || typeof step === 'number')
    .map((step) => String(step).slice(0, MAX_STEP_CHARACTERS));

/**
 * The path in the GraphQL input of a `loc`.
 *
 * @param operation - of the REST API, such as `submit` or `similarity`
 */
export function graphqlInputPath(operation: string, loc: readonly unknown[]): string {
  const [first, ...rest] = readLoc(loc);
  const parts = first === undefined || ['body', 'query', 'path'].includes(first) ? rest : [first, ...rest];
  if (operation === 'submit') return submissionPath(parts);
  const [name = '', ...below] = parts;
  const argument = ARGUMENTS[name] ?? camelCase(name);
  // Positions in a bulk call are those of its own list, not of the caller's.
  return operation === 'bulk' ? argument : [argument, ...below].join('.');
}

/** Arguments of the schema. */
const CALLER_ARGUMENTS: ReadonlySet<string> = new Set([
  ...['hash', 'hashes', 'id', 'index', 'indices', 'type', 'top', 'first', 'normalize', 'foldOnMiss'],
  ...['sequence', 'minSimilarity', 'maxPercentCharacterized', 'batchId', 'taskId'],
]);

/** The gateway wrote the request: it is at fault for what is missing or too much. */
const GATEWAY_FAULTS = /MISSING|EXTRA/;

/** Whether a fault is one of what the caller gave, and not of how the gateway sent it. */
export const isCallersFault = ({ path, code }: InputFault): boolean =>
  CALLER_ARGUMENTS.has(path.split('.')[0] ?? '') && !GATEWAY_FAULTS.test(code);

/** The faults in the body of a 422; none in another body. Leaves out the input that it quotes. */
export function parseInputFaults(operation: string, body: unknown): InputFault[] {
  if (!isFields(body) || !Array.isArray(body.detail)) return [];
  return body.detail.slice(0, MAX_FAULTS).flatMap((item: unknown) => {
    if (!isFields(item)) return [];
    const { loc, msg, type } = item;
    if (typeof msg !== 'string' || !Array.isArray(loc)) return [];
    const code = typeof type === 'string' && /^[\w.]{1,60}$/.test(type) ? type : 'invalid';
    return [
      { path: graphqlInputPath(operation, loc), code: code.replaceAll('.', '_').toUpperCase(), message: msg },
    ];
  });
}
