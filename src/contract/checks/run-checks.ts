// Runs all checks of an upstream, from its prefixes to the optional ones.
import type { Downloads } from '../../upstream/http/download.ts';
import type { Upstream } from '../../upstream/http/upstream-client.ts';
import type { WireMapping } from '../../upstream/renames.ts';
import { checkMapping, suggestMapping } from '../mapping.ts';
import { type Check, type Finding, isProblem, type Report, shownUrl, statusOf } from '../report.ts';
import { checkAtlas, checkJob, type Part } from './atlas.ts';
import { checkBatch, checkFold } from './batch.ts';
import { findMoved } from './prefixes.ts';
import type { Probe } from './probe.ts';

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
  { light = false, job, submit, onProgress = () => undefined, ...options }: RunOptions,
  paid: NonNullable<Probe['paid']>,
): Promise<Part> {
  const long = { downloads: options.downloads, patience: options.patience ?? PATIENCE_MS, onProgress };
  onProgress('asking the Atlas');
  const parts: Part[] = [await checkAtlas(up, light)];
  onProgress('asking the Batch API');
  parts.push(await checkBatch(up));
  if (job === true) parts.push(await checkJob(up, long));
  if (submit !== undefined) parts.push(await checkFold(up, { ...long, model: submit.model }, paid));
  return {
    checks: withoutRepeats(parts.flatMap((part) => part.checks)),
    limits: parts.flatMap((part) => part.limits),
  };
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

/** Checks the upstream. It never throws for what the upstream does. */
export async function runChecks(upstream: Upstream, options: RunOptions): Promise<Report> {
  const { onProgress = () => undefined, prefixes } = options;
  onProgress('looking for both APIs');
  const [atlas, batch] = await Promise.all([
    findMoved(upstream, 'atlas', prefixes?.atlas),
    findMoved(upstream, 'batch', prefixes?.batch),
  ]);
  const moved = [atlas, batch].filter((one) => one !== null);
  const up: Upstream = {
    ...upstream,
    settings: {
      ...upstream.settings,
      ...(atlas === null ? {} : { atlasPrefix: atlas.prefix }),
      ...(batch === null ? {} : { batchPrefix: batch.prefix }),
    },
  };
  const paid: NonNullable<Probe['paid']> = new Map();
  const first = await checkOnce(up, options, paid);
  const isRenamed = findingsIn(first.checks).some(({ kind }) => kind === 'renamed');
  const found =
    isRenamed && options.propose === true
      ? await tryProposals(first.checks, up.settings.mapping, async (mapping) => {
          onProgress('trying the names that were found');
          const bridged = { ...up, settings: { ...up.settings, mapping } };
          return (await checkOnce(bridged, options, paid)).checks;
        })
      : first.checks;
  const checks = [...moved.map(({ check }) => check), ...found];
  return {
    checkedAt: new Date(),
    upstream: shownUrl(upstream.settings.baseUrl),
    sandbox: options.sandbox === true,
    status: statusOf(checks),
    checks,
    limits: first.limits,
    settings: Object.fromEntries(moved.map(({ setting, prefix }) => [setting, prefix])),
  };
}
