// Reads the body of POST /proteins/batch (spec: bulk lookup body), every problem at once.
import { checkBoolean, checkHash, checkInteger, type Problems } from './checks.ts';

/** A bulk lookup that passed. */
export interface BulkRequest {
  /** Unique, in the order of first mention. */
  readonly hashes: readonly string[];
  readonly topkFeatures: number;
  readonly structure: boolean;
  readonly clusterInfo: boolean;
  readonly sequence: boolean;
  readonly proteinLevel: boolean;
  readonly perResidue: boolean;
}

const MOST_HASHES = 500;
/** After this many bad hashes the rest is not looked at: the answer must stay small. */
const MOST_PROBLEMS = 100;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectExpected = 'Input should be a valid dictionary or object to extract fields from';

function checkHashes(problems: Problems, body: Record<string, unknown>): string[] {
  const loc = ['body', 'protein_hashes'];
  const input = body.protein_hashes;
  if (!('protein_hashes' in body)) {
    problems.push({ loc, msg: 'Field required', type: 'missing', input: body });
    return [];
  }
  if (!Array.isArray(input)) {
    problems.push({ loc, msg: 'Input should be a valid list', type: 'list_type', input });
    return [];
  }
  const unique = new Set<unknown>(input);
  if (unique.size > MOST_HASHES) {
    const msg = `List should have at most ${MOST_HASHES} unique items after validation, not ${unique.size}`;
    const ctx = { field_type: 'List', max_length: MOST_HASHES, actual_length: unique.size };
    problems.push({ loc, msg, type: 'too_long', input: `${input.length} hashes`, ctx });
    return [];
  }
  for (const [n, hash] of input.entries())
    if (problems.length < MOST_PROBLEMS) checkHash(problems, [...loc, String(n)], hash);
  return [...unique].filter((hash) => typeof hash === 'string');
}

/** @param text the body as it came; a text that is no JSON is a problem like any other */
export function readBulkRequest(text: string): { request: BulkRequest; problems: Problems } {
  const problems: Problems = [];
  let body: unknown = {};
  try {
    body = JSON.parse(text);
  } catch (error) {
    const ctx = { error: error instanceof Error ? error.message : 'not JSON' };
    problems.push({ loc: ['body', '0'], msg: 'JSON decode error', type: 'json_invalid', input: {}, ctx });
  }
  if (!isRecord(body))
    problems.push({ loc: ['body'], msg: objectExpected, type: 'model_attributes_type', input: body });
  const fields = isRecord(body) ? body : {};
  const flag = (name: string): boolean =>
    !(name in fields) || checkBoolean(problems, ['body', name], fields[name], true);
  const features = fields.include_features;
  const part = (name: string): boolean => {
    if (!isRecord(features)) return true;
    return (
      !(name in features) || checkBoolean(problems, ['body', 'include_features', name], features[name], true)
    );
  };
  if ('include_features' in fields && !isRecord(features) && typeof features !== 'boolean')
    problems.push({
      loc: ['body', 'include_features'],
      msg: objectExpected,
      type: 'model_attributes_type',
      input: features,
    });
  const request = {
    hashes: checkHashes(problems, fields),
    topkFeatures:
      'topk_features' in fields
        ? checkInteger(problems, ['body', 'topk_features'], fields.topk_features, 10, { ge: 1, le: 100 })
        : 10,
    structure: flag('include_structure'),
    clusterInfo: flag('include_cluster_info'),
    sequence: flag('include_sequence'),
    proteinLevel: features !== false && part('protein_level'),
    perResidue: features !== false && part('per_residue'),
  };
  return { request, problems };
}
