// The faults of a 422 (spec, section Errors), at the argument or path in our input that they are about.

export interface InputFault {
  /** Argument, or path in the GraphQL input, dotted. */
  readonly path: string;
  /** A word for programs, such as STRING_TOO_SHORT. */
  readonly code: string;
  readonly message: string;
}

/** Our arguments by the names on the wire, where they differ. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  protein_hash: 'hash',
  uniprot_id: 'id',
  feature_index: 'index',
  feature_indices: 'indices',
  thumbnail_type: 'type',
  topk_features: 'top',
  topk_results: 'first',
  normalize_features: 'normalize',
  cluster_pct_characterized_max: 'maxPercentCharacterized',
};

const PARTS_OF_SUBMISSION: Readonly<Record<string, string>> = {
  payload: 'items',
  sequences: 'chains',
  id: 'ids',
  res_idx1: 'residueIndex1',
  res_idx2: 'residueIndex2',
  atom_idx1: 'atomIndex1',
  atom_idx2: 'atomIndex2',
};

const CONTACT = ['chainId', 'residueIndex'];

const camel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function pathOfSubmission(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== 'all_atom_input')
    .map((part, i, all) =>
      all[i - 2] === 'contacts'
        ? (CONTACT[Number(part)] ?? part)
        : (PARTS_OF_SUBMISSION[part] ?? camel(part)),
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

/** A `loc` in our words. @param operation - of the REST API, such as `submit` or `similarity` */
export function graphqlInputPath(operation: string, loc: readonly unknown[]): string {
  const [first, ...rest] = readLoc(loc);
  const parts = first === undefined || ['body', 'query', 'path'].includes(first) ? rest : [first, ...rest];
  if (operation === 'submit') return pathOfSubmission(parts);
  const [name = ''] = parts;
  const ours = ARGUMENTS[name] ?? camel(name.replace(/^protein_hashes$/, 'hashes'));
  // Positions in a bulk call are those of its own list, not of the caller's.
  return operation === 'bulk' ? ours : [ours, ...parts.slice(1)].join('.');
}

/** Arguments that a caller gives, in our words. */
const CALLERS: ReadonlySet<string> = new Set([
  ...['hash', 'hashes', 'id', 'index', 'indices', 'type', 'top', 'first', 'normalize', 'foldOnMiss'],
  ...['sequence', 'minSimilarity', 'maxPercentCharacterized', 'batchId', 'taskId'],
]);

/** That something is missing or too much is the gateway's fault, which wrote the request. */
const OF_GATEWAY = /MISSING|EXTRA/;

/** Whether a fault is one of what the caller gave, and not of how the gateway sent it. */
export const isCallersFault = ({ path, code }: InputFault): boolean =>
  CALLERS.has(path.split('.')[0] ?? '') && !OF_GATEWAY.test(code);

/** The faults in the body of a 422; none in another body. Leaves out the input that it quotes. */
export function validationIssues(operation: string, body: unknown): InputFault[] {
  if (typeof body !== 'object' || body === null || !('detail' in body) || !Array.isArray(body.detail))
    return [];
  return body.detail.slice(0, MAX_FAULTS).flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null) return [];
    const { loc, msg, type } = item as Record<string, unknown>;
    if (typeof msg !== 'string' || !Array.isArray(loc)) return [];
    const code = typeof type === 'string' && /^[\w.]{1,60}$/.test(type) ? type : 'invalid';
    return [
      { path: graphqlInputPath(operation, loc), code: code.replaceAll('.', '_').toUpperCase(), message: msg },
    ];
  });
}
