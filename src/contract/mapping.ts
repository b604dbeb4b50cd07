// The mapping file: a deployment's names by operation and path, in YAML or JSON. Reads it,
// reporting all mistakes at once, and writes the one that would bridge a report's differences.
import { createRequire } from 'node:module';
import { isFields, REQUEST, type WireMapping } from '../upstream/renames.ts';
import { isAnswerName, PROMISED } from './answers.ts';
import type { Report } from './report.ts';
import { closest, pathsOf, shapeOf } from './shape.ts';

const below = (parent: string, names: string) => names.split(' ').map((name) => `${parent}.${name}`);
const INPUT = 'payload[].all_atom_input';

/** Fields of requests to List whose names no setting changes. */
export const LIST_FIELDS = ['batch_id', 'include_responses', 'status'];

/** Names within requests, by operation (spec, "Resources and their fields" and "Endpoints"). */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  protein: ['topk_features', 'fold_on_miss', 'normalize_features', 'feature_indices'],
  cluster: ['topk_features'],
  similarity: [
    ...['sequence', 'topk_results', 'topk_features', 'min_similarity'],
    ...['cluster_pct_characterized_max', 'include_cluster_info'],
  ],
  bulk: [
    ...['protein_hashes', 'topk_features', 'include_structure', 'include_cluster_info', 'include_sequence'],
    ...['include_features', ...below('include_features', 'protein_level per_residue')],
  ],
  submit: [
    ...['endpoint', 'payload', 'repeat'],
    ...below('payload[]', 'model potential_sequence_of_concern all_atom_input'),
    ...below('payload[]', 'include_pae include_pair_chains_iptm include_embeddings'),
    ...below(INPUT, 'sequences covalent_bonds pocket distogram_conditioning'),
    ...below(`${INPUT}.sequences[]`, 'type id sequence modifications smiles ccd'),
    ...below(`${INPUT}.sequences[].modifications[]`, 'position ccd'),
    ...below(`${INPUT}.covalent_bonds[]`, 'chain_id1 res_idx1 atom_idx1 chain_id2 res_idx2 atom_idx2'),
    ...below(`${INPUT}.pocket`, 'binder_chain_id contacts'),
    ...below(`${INPUT}.distogram_conditioning[]`, 'chain_id distogram'),
  ],
  list: LIST_FIELDS,
  status: ['task_id'],
  cancel: ['task_id', 'batch_id'],
};

const NAMES = [...new Set([...Object.keys(PROMISED), ...Object.keys(REQUESTS), 'archive'])];

/** Files of the bulk archive, and the folder of its structures. */
const FILES = ['sequences.fasta', 'cluster_info.json', 'features.json', 'structures'];

const knownPaths = (name: string): readonly string[] =>
  name === 'archive'
    ? FILES
    : [
        ...(isAnswerName(name) ? pathsOf(shapeOf(PROMISED[name].schema)) : []),
        ...(REQUESTS[name] ?? []).map((path) => `${REQUEST}${path}`),
      ];

function didYouMean(text: string, names: readonly string[]): string {
  const best = closest(text, names);
  return best === undefined || best.alike < 0.5 ? '' : `; did you mean ${best.name}?`;
}

function readNames(name: string, fields: Readonly<Record<string, unknown>>, problems: string[]) {
  const paths = knownPaths(name);
  const names = Object.entries(fields).flatMap(([path, seen]): [string, string][] => {
    const where = `${name}: ${path}`;
    if (!paths.includes(path)) problems.push(`${where}: there is no such place${didYouMean(path, paths)}`);
    else if (typeof seen !== 'string' || seen === '')
      problems.push(`${where}: must be the name that the service uses, as text`);
    else return [[path, seen]];
    return [];
  });
  // A path is longer than those of the objects around it.
  return Object.fromEntries(names.sort(([a], [b]) => a.length - b.length));
}

/** The parser, 70 modules that a gateway without a mapping never loads. */
const yaml = () => createRequire(import.meta.url)('yaml') as typeof import('yaml');

type ReadMapping = { mapping: WireMapping } | { problems: string[] };

/**
 * Parses a mapping file: `operation: { path: name seen }`. Paths are those of the contract, such as
 * `sae_features[].value`; those of a request begin with `request.`.
 *
 * @returns the names, or every problem, a sentence each
 */
export function readMapping(text: string): ReadMapping {
  let content: unknown;
  try {
    content = yaml().parse(text) ?? {};
  } catch (error) {
    return {
      problems: [`is not YAML: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''}`],
    };
  }
  return isFields(content)
    ? checkMapping(content)
    : { problems: ['must be a map of operations, each a map of paths to names'] };
}

/** The same for a mapping that is parsed already. */
export function checkMapping(content: Readonly<Record<string, unknown>>): ReadMapping {
  const problems: string[] = [];
  const mapping: Record<string, Record<string, string>> = {};
  for (const [name, fields] of Object.entries(content)) {
    if (!NAMES.includes(name)) problems.push(`${name}: there is no such operation${didYouMean(name, NAMES)}`);
    else if (!isFields(fields)) problems.push(`${name}: must be a map of paths to names`);
    else mapping[name] = readNames(name, fields, problems);
  }
  return problems.length > 0 ? { problems } : { mapping };
}

/** The names that a report has found, added to a mapping. */
export function suggestMapping({ checks }: Pick<Report, 'checks'>, present: WireMapping = {}): WireMapping {
  const proposal: Record<string, Readonly<Record<string, string>>> = { ...present };
  for (const { answer, kind, path, name } of checks.flatMap(({ findings }) => findings)) {
    if (kind !== 'renamed' || name === undefined) continue;
    proposal[answer] = { ...proposal[answer], [path]: name };
  }
  return proposal;
}

/** The text of the file, with settings as comments. Empty when there is nothing to bridge. */
export function proposalText(proposal: WireMapping, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `# ${name}=${value}\n`);
  const body = Object.keys(proposal).length === 0 ? '' : yaml().stringify(proposal);
  const head = lines.length === 0 ? '' : `# Set these too:\n${lines.join('')}`;
  return `${head}${body}`;
}
