// Parses the mapping file: a deployment's names by operation and path, in YAML or JSON. Reports all
// mistakes at once.
import { createRequire } from 'node:module';
import type { Renames, Rule, WireMapping } from '../upstream/renames.ts';
import { isAnswerName, PROMISED } from './answers.ts';
import { likeness } from './rename.ts';
import { pathsOf, shapeOf } from './shape.ts';

const polymer = [
  'type',
  'id',
  'sequence',
  'modifications',
  'modifications[].position',
  'modifications[].ccd',
];
const bond = ['chain_id1', 'res_idx1', 'atom_idx1', 'chain_id2', 'res_idx2', 'atom_idx2'];
const below = (parent: string, names: readonly string[]) => [
  parent,
  ...names.map((name) => `${parent}.${name}`),
];
const input = 'payload[].all_atom_input';

/** Names within requests, by operation (spec, "Resources and their fields" and "Endpoints"). */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  protein: ['topk_features', 'fold_on_miss', 'normalize_features', 'feature_indices'],
  cluster: ['topk_features'],
  similarity: [
    'sequence',
    'topk_results',
    'topk_features',
    'min_similarity',
    'cluster_pct_characterized_max',
    'include_cluster_info',
  ],
  bulk: [
    'protein_hashes',
    'topk_features',
    'include_structure',
    'include_cluster_info',
    'include_sequence',
    ...below('include_features', ['protein_level', 'per_residue']),
  ],
  submit: [
    'endpoint',
    'payload',
    'repeat',
    ...[
      'model',
      'potential_sequence_of_concern',
      'include_pae',
      'include_pair_chains_iptm',
      'include_embeddings',
    ].map((name) => `payload[].${name}`),
    input,
    `${input}.sequences`,
    ...[...polymer, 'smiles', 'ccd'].map((name) => `${input}.sequences[].${name}`),
    `${input}.covalent_bonds`,
    ...bond.map((name) => `${input}.covalent_bonds[].${name}`),
    ...below(`${input}.pocket`, ['binder_chain_id', 'contacts']),
    `${input}.distogram_conditioning`,
    ...['chain_id', 'distogram'].map((name) => `${input}.distogram_conditioning[].${name}`),
  ],
  list: ['batch_id', 'include_responses', 'status'],
  status: ['task_id'],
  cancel: ['task_id', 'batch_id'],
};

const REQUEST = 'request.';

/** Names of what may be mapped. */
const NAMES = [...new Set([...Object.keys(PROMISED), ...Object.keys(REQUESTS), 'archive'])];

/** Files of the bulk archive, and the folder of its structures. */
const FILES = ['sequences.fasta', 'cluster_info.json', 'features.json', 'structures'];

/** Paths that exist for a name; those of its request begin with `request.`. */
const knownPaths = (name: string): readonly string[] => (name === 'archive' ? FILES : pathsWithin(name));

const pathsWithin = (name: string): string[] => [
  ...(isAnswerName(name) ? pathsOf(shapeOf(PROMISED[name].schema)) : []),
  ...(REQUESTS[name] ?? []).map((path) => `${REQUEST}${path}`),
];

/** The name that is most like a text, for "did you mean". */
function nearest(text: string, names: readonly string[]): string {
  const [best] = names
    .map((name) => ({ name, alike: likeness(name, text) }))
    .sort((a, b) => b.alike - a.alike);
  return best === undefined || best.alike < 0.5 ? '' : `; did you mean ${best.name}?`;
}

/** Splits `a[].b` into the place of the object and the key. */
function ruleOf(path: string, seen: string): Rule {
  if (FILES.includes(path)) return { parents: [], wire: path, seen };
  const steps = path
    .split('.')
    .flatMap((step) => [step.replaceAll('[]', ''), ...(step.match(/\[\]/g) ?? [])])
    .filter((step) => step !== '');
  return { parents: steps.slice(0, -1), wire: steps.at(-1) ?? '', seen };
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const outermostFirst = (rules: readonly Rule[]): Rule[] =>
  rules.toSorted((a, b) => a.parents.length - b.parents.length);

function readRenames(name: string, fields: Readonly<Record<string, unknown>>, problems: string[]): Renames {
  const paths = knownPaths(name);
  const rules: { request: boolean; rule: Rule }[] = [];
  for (const [path, seen] of Object.entries(fields)) {
    const where = `${name}: ${path}`;
    if (!paths.includes(path)) problems.push(`${where}: there is no such place${nearest(path, paths)}`);
    else if (typeof seen !== 'string' || seen === '')
      problems.push(`${where}: must be the name that the service uses, as text`);
    else {
      const request = path.startsWith(REQUEST);
      rules.push({ request, rule: ruleOf(request ? path.slice(REQUEST.length) : path, seen) });
    }
  }
  const of = (wanted: boolean) =>
    outermostFirst(rules.flatMap(({ request, rule }) => (request === wanted ? [rule] : [])));
  return { answer: of(false), request: of(true) };
}

/** The parser, 70 modules that a gateway without a mapping never loads. */
const yaml = () => createRequire(import.meta.url)('yaml') as typeof import('yaml');

/**
 * Parses a mapping file: `operation: { path: name seen }`. Paths are those of the contract, such as
 * `sae_features[].value`; those of a request begin with `request.`.
 *
 * @returns the rules, or every problem, a sentence each
 */
export function readMapping(text: string): { mapping: WireMapping } | { problems: string[] } {
  let content: unknown;
  try {
    content = yaml().parse(text) ?? {};
  } catch (error) {
    return {
      problems: [`is no YAML: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''}`],
    };
  }
  if (!isFields(content)) return { problems: ['must be a map of operations, each a map of paths to names'] };
  return readRules(content);
}

/** The same for a mapping that is parsed already. */
export function readRules(
  content: Record<string, unknown>,
): { mapping: WireMapping } | { problems: string[] } {
  const problems: string[] = [];
  const mapping: Record<string, Renames> = {};
  for (const [name, fields] of Object.entries(content)) {
    if (!NAMES.includes(name)) problems.push(`${name}: there is no such operation${nearest(name, NAMES)}`);
    else if (!isFields(fields)) problems.push(`${name}: must be a map of paths to names`);
    else mapping[name] = readRenames(name, fields, problems);
  }
  return problems.length > 0 ? { problems } : { mapping };
}
