// Runs all checks of an upstream, from its prefixes, of which it tries likely ones when an API has
// moved, to the optional ones.
import { errorText } from '../../upstream/errors.ts';
import type { Downloads } from '../../upstream/http/download.ts';
import { parseJsonBody, readBytes } from '../../upstream/http/response-body.ts';
import { requestStream, type Upstream } from '../../upstream/http/upstream-client.ts';
import type { WireMapping } from '../../upstream/renames.ts';
import { checkMapping, suggestMapping } from '../mapping.ts';
import { type Check, type Finding, isProblem, type Report, shownUrl, statusOf } from '../report.ts';
import { checkAtlas, checkJob } from './atlas.ts';
import { checkBatch, checkFold } from './batch.ts';
import { createProbes, finding, type ProbeOptions } from './probe.ts';

export interface RunOptions {
  readonly downloads: Downloads;
  /** Leaves out large answers. */
  readonly light?: boolean;
  readonly job?: boolean;
  /** Submits the smallest fold with this model. It costs credits. */
  readonly submit?: { readonly model: string };
  readonly patience?: number;
  readonly sandbox?: boolean;
  /** Whether to propose a mapping of renamed fields; each is tried first. */
  readonly propose?: boolean;
  /** More prefixes to try when an API does not answer at its own. */
  readonly prefixes?: { readonly atlas: readonly string[]; readonly batch: readonly string[] };
  readonly onProgress?: (line: string) => void;
}

const PATIENCE_MS = 10 * 60_000;

const placeOf = ({ answer, kind, path }: Finding): string => `${answer} ${kind} ${path}`;
const findingsIn = (checks: readonly Check[]): Finding[] => checks.flatMap(({ findings }) => findings);

/** Removes repeated differences: the first check of an operation that shows one has it. */
function withoutRepeats(checks: readonly Check[]): Check[] {
  const told = new Set<string>();
  return checks.map((check) => {
    const findings = check.findings.filter((one) => !told.has(placeOf(one)));
    for (const one of findings) told.add(placeOf(one));
    return { ...check, findings };
  });
}

async function checkOnce(
  up: Upstream,
  { light = false, job, submit }: RunOptions,
  options: ProbeOptions,
): Promise<Pick<Report, 'checks' | 'limits'>> {
  const { onProgress } = options;
  const probes = createProbes(up, options);
  onProgress('asking the Atlas');
  await checkAtlas(probes, light);
  onProgress('asking the Batch API');
  await checkBatch(probes);
  if (job === true) await checkJob(probes);
  if (submit !== undefined) await checkFold(probes, submit.model);
  return { checks: withoutRepeats(probes.checks), limits: probes.limits };
}

/**
 * Repeats the checks with the renamed fields mapped, and drops each proposal that does not help or
 * that causes another difference.
 *
 * @param again - runs the checks with a mapping
 */
async function tryProposals(
  checks: readonly Check[],
  present: WireMapping | undefined,
  again: (mapping: WireMapping) => Promise<readonly Check[]>,
): Promise<Check[]> {
  const read = checkMapping(suggestMapping({ checks }, present));
  // A path that cannot be mapped spoils the whole proposal.
  const bridged = findingsIn(await again('mapping' in read ? read.mapping : {}));
  const before = new Set(findingsIn(checks).map(placeOf));
  const remaining = new Set(bridged.map(placeOf));
  const spoiled = new Set(
    bridged.filter((one) => isProblem(one) && !before.has(placeOf(one))).map(({ answer }) => answer),
  );
  const tried = (one: Finding): Finding => {
    if (one.kind !== 'renamed' || (!remaining.has(placeOf(one)) && !spoiled.has(one.answer))) return one;
    const { name: _, ...rest } = one;
    return rest;
  };
  return checks.map((check) => ({ ...check, findings: check.findings.map(tried) }));
}

const VERSIONS = 'v1alpha1 v1alpha2 v1alpha3 v1beta1 v1beta2 v1 v2alpha1 v2beta1 v2'.split(' ');
const VERSION = /\/v\d+((alpha|beta)\d*)?(?=\/|$)/;

const swapped = (prefix: string): string[] =>
  VERSION.test(prefix) ? VERSIONS.map((version) => prefix.replace(VERSION, `/${version}`)) : [];

const APIS = {
  atlas: {
    setting: 'UPSTREAM_ATLAS_PREFIX',
    key: 'atlasPrefix',
    usual: ['/atlas/protein/api/v1alpha1', '/atlas/api/v1alpha1', '/api/v1alpha1/atlas/protein'],
    more: ['/atlas/protein/api', '/atlas/api/v1', '/api/v1/atlas'],
    call: { operation: 'feature', method: 'GET', path: '/features/7' },
    lives: [200],
    // The feature exists in every Atlas.
    canLack: false,
  },
  batch: {
    setting: 'UPSTREAM_BATCH_PREFIX',
    key: 'batchPrefix',
    usual: ['/api/v1/batch', '/batch/api/v1'],
    more: ['/api/batch', '/v1/batch', '/api/v1/batches'],
    // Without a token an API refuses; a server without the API answers 404.
    call: { operation: 'list', method: 'POST', path: '/list', body: { batch_id: 'foldatlas-doctor' } },
    lives: [400, 401, 403, 422],
    canLack: true,
  },
} as const;

/** Whether an API answers at a prefix; undefined when every answer was an error of the server. */
async function livesAt(up: Upstream, api: keyof typeof APIS, prefix: string): Promise<boolean | undefined> {
  const { key, call, lives, canLack } = APIS[api];
  const settings = { ...up.settings, [key]: prefix };
  let status: number;
  let bytes: Uint8Array;
  try {
    const answer = await requestStream(
      { ...up, settings, token: undefined },
      { ...call, api, repeatable: false },
    );
    status = answer.status;
    bytes = await readBytes(up, answer);
  } catch {
    return undefined;
  }
  if (status === 429 || status >= 500) return undefined;
  const body = await parseJsonBody(call.operation, bytes).catch(() => undefined);
  if (body === undefined) return false;
  if ((lives as readonly number[]).includes(status)) return true;
  // An API's own 404 names what it did not find; that of a server without the route does not.
  const text = errorText(body);
  return canLack && status === 404 && text !== undefined && text !== 'Not Found';
}

/**
 * Looks for an API that does not answer at its prefix. Null when it is there, or at no likely
 * prefix.
 *
 * @param further - prefixes to try first
 */
async function findMoved(
  up: Upstream,
  api: keyof typeof APIS,
  further: readonly string[] = [],
): Promise<{ readonly api: keyof typeof APIS; readonly prefix: string; readonly check: Check } | null> {
  const { setting, key, usual, more } = APIS[api];
  const { [key]: here } = up.settings;
  if ((await livesAt(up, api, here)) !== false) return null;
  const versions = [here, ...usual].flatMap((prefix) => [prefix, ...swapped(prefix)]);
  const likely = new Set([...further, ...versions, ...more]);
  likely.delete(here);
  for (const prefix of likely) {
    if ((await livesAt(up, api, prefix)) !== true) continue;
    const drift = { kind: 'prefix', path: setting, expected: here, seen: prefix } as const;
    const check: Check = {
      name: `prefix, ${api}`,
      operation: api,
      status: 'CHANGED',
      findings: [finding(api, drift)],
    };
    return { api, prefix, check };
  }
  return null;
}

/** Checks the upstream. It never throws for what the upstream does. */
export async function runChecks(upstream: Upstream, options: RunOptions): Promise<Report> {
  const { downloads, patience = PATIENCE_MS, onProgress = () => undefined, prefixes } = options;
  onProgress('looking for both APIs');
  const looked = (['atlas', 'batch'] as const).map((api) => findMoved(upstream, api, prefixes?.[api]));
  const moved = (await Promise.all(looked)).filter((one) => one !== null);
  const found = Object.fromEntries(moved.map(({ api, prefix }) => [APIS[api].key, prefix]));
  const up: Upstream = { ...upstream, settings: { ...upstream.settings, ...found } };
  const probing: ProbeOptions = { downloads, patience, onProgress, paid: new Map() };
  const first = await checkOnce(up, options, probing);
  const isRenamed = findingsIn(first.checks).some(({ kind }) => kind === 'renamed');
  const shown =
    isRenamed && options.propose === true
      ? await tryProposals(first.checks, up.settings.mapping, async (mapping) => {
          onProgress('trying the names that were found');
          const bridged = { ...up, settings: { ...up.settings, mapping } };
          return (await checkOnce(bridged, options, probing)).checks;
        })
      : first.checks;
  const checks = [...moved.map(({ check }) => check), ...shown];
  return {
    checkedAt: new Date(),
    upstream: shownUrl(upstream.settings.baseUrl),
    sandbox: options.sandbox === true,
    status: statusOf(checks),
    checks,
    limits: first.limits,
    settings: Object.fromEntries(moved.map(({ api, prefix }) => [APIS[api].setting, prefix])),
  };
}
