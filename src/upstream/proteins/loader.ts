// The protein loader of one request: the parts that are needed in one tick, over every protein,
// become the fewest calls. A protein is null only when its absence is proven.
import { hash as digest } from 'node:crypto';
import DataLoader from 'dataloader';
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { SingleFlight } from '../../async/single-flight.ts';
import type { BulkParts } from '../archive/bulk.ts';
import { asError, UpstreamError } from '../errors.ts';
import type { Downloads } from '../http/download.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { partValue, UNKNOWN } from '../part.ts';
import type { ClusterInfo, ClusterRecord } from '../wire.ts';
import { isRankingOf } from './activations.ts';
import { createFeatureValueLoader, type LoadFeatures } from './feature-values.ts';
import { damagedArchive, fetchArchive } from './fetch-archive.ts';
import { MAX_FOLDS, readFolded, tooManyFolds } from './fold-on-miss.ts';
import { type BulkCall, type NeededParts, type Plan, planFirstCalls, planRemainingCalls } from './plan.ts';
import type { ProteinCache } from './protein-cache.ts';
import { readArchived, readClusterInfo } from './read-archive.ts';
import { readRecord } from './read-record.ts';
import {
  availableParts,
  emptyRecord,
  mergeRecords,
  type ProteinRecord,
  withoutLargeParts,
  withParts,
} from './record.ts';
import {
  missingParts,
  type Need,
  NO_PARTS,
  needNames,
  needsCluster,
  needsLargePart,
  needsNothing,
  needsRows,
  needsStructure,
  pathOf,
  pickParts,
  type RequiredParts,
  topOf,
  unionParts,
} from './required-parts.ts';

const BULK_IN_FLIGHT = 4;
const RECORDS_IN_FLIGHT = 8;

/** What a protein of a list came to. An error stands for one that may not exist. */
export type LoadResult = ProteinRecord | null | Error;

export interface ProteinLoader {
  /**
   * A protein with the parts that are needed; of a part that could not be loaded the record holds
   * the error. Null when the Atlas has proven that it does not have the protein.
   *
   * @throws UpstreamError when nobody said whether it exists
   */
  load(hash: string, needs: RequiredParts): Promise<ProteinRecord | null>;
  /** Proteins in the order of the hashes, duplicates included. */
  loadMany(hashes: readonly string[], needs: RequiredParts): Promise<readonly LoadResult[]>;
  /** The cached protein if it has all that is needed; undefined when a call would be needed. */
  findCached(hash: string, needs: RequiredParts): Promise<ProteinRecord | undefined>;
  /** Adds what another answer said of a protein, so that no call requests it again. */
  prime(record: ProteinRecord): void;
  /** Features by exact index or unscaled. Null when the Atlas does not hold the protein. */
  loadFeatures: LoadFeatures;
}

/** What the loaders of all requests have in common. */
export interface ProteinLoaderDependencies {
  readonly downloads: Downloads;
  readonly cache: ProteinCache;
  readonly singleFlight: SingleFlight;
}

interface Clusters {
  /** The record of a cluster; null for a hash that represents none. */
  load(representative: string): Promise<{ readonly record: ClusterRecord } | null>;
}

interface ProteinRequest {
  readonly hashes: readonly string[];
  readonly needs: RequiredParts;
}

/** A call that failed, and what it should have said of a protein. */
interface Failure {
  readonly needs: RequiredParts;
  readonly error: Error;
}

/** A batch under way. */
interface RunningBatch {
  readonly needed: NeededParts;
  readonly done: Promise<void>;
}

/** The answers that were read of a protein in this request. */
interface Asked {
  record: boolean;
  archive: RequiredParts;
}

const drift = (message: string): UpstreamError =>
  new UpstreamError(message, { operation: 'protein', code: 'UPSTREAM_DRIFT', retryable: false });

/** The loader of one request. */
export function createProteinLoader(
  up: Upstream,
  { downloads, cache, singleFlight }: ProteinLoaderDependencies,
  clusters: Clusters,
): ProteinLoader {
  const limitBulk = createConcurrencyLimit(BULK_IN_FLIGHT);
  const limitRecords = createConcurrencyLimit(RECORDS_IN_FLIGHT);
  /** All that this request knows; null for a protein that does not exist. */
  const known = new Map<string, ProteinRecord | null>();
  /** The cached records, and what the answers add to them. */
  const cacheable = new Map<string, ProteinRecord>();
  const changed = new Set<string>();
  const failures = new Map<string, Failure>();
  const damaged = new Map<string, Error>();
  const asked = new Map<string, Asked>();
  /** By representative, what archives said of clusters whose members only single records name. */
  const clusterInfos = new Map<string, ClusterInfo>();
  let running: readonly RunningBatch[] = [];

  /** @param isKept - whether the large parts of the answer are cached as well */
  function take(hash: string, record: ProteinRecord | null, isKept = true): void {
    const before = known.get(hash);
    known.set(hash, before && record ? mergeRecords(before, record) : record);
    if (record === null) up.absences?.add(hash);
    else keep(hash, isKept ? record : withoutLargeParts(record));
  }

  function keep(hash: string, record: ProteinRecord): void {
    const cached = cacheable.get(hash);
    cacheable.set(hash, cached ? mergeRecords(cached, record) : record);
    changed.add(hash);
  }

  function store(): void {
    for (const hash of changed) {
      const record = cacheable.get(hash);
      if (record !== undefined && known.get(hash) !== null) cache.set(record);
    }
    changed.clear();
  }

  function askedOf(hash: string): Asked {
    const one = asked.get(hash) ?? { record: false, archive: NO_PARTS };
    asked.set(hash, one);
    return one;
  }

  /** The needs that are not met and did not fail; undefined where nothing has to be asked. */
  function openParts(hash: string, needs: RequiredParts): RequiredParts | undefined {
    const record = known.get(hash);
    const failure = failures.get(hash);
    if (record === null || (record === undefined && failure !== undefined)) return undefined;
    if (record === undefined) return needs;
    const missing = missingParts(needs, availableParts(record));
    // What was learnt before folding is out of date with it.
    if (missing.fold === true && failure === undefined) return needs;
    const open = failure === undefined ? missing : missingParts(missing, failure.needs);
    return needsNothing(open) ? undefined : open;
  }

  function fail(hash: string, needs: RequiredParts, error: unknown): void {
    const before = failures.get(hash);
    failures.set(
      hash,
      before === undefined
        ? { needs, error: asError(error) }
        : { needs: unionParts([before.needs, needs]), error: before.error },
    );
  }

  function openOf(needed: NeededParts): Map<string, RequiredParts> {
    const open = new Map<string, RequiredParts>();
    for (const [hash, needs] of needed) {
      const parts = openParts(hash, needs);
      if (parts !== undefined) open.set(hash, parts);
    }
    return open;
  }

  async function loadBatch(requests: readonly ProteinRequest[]): Promise<(readonly LoadResult[])[]> {
    const needed = mergeRequests(requests);
    const batch = { needed, done: waitForOthers(needed).then(() => loadNeeded(needed)) };
    running = [...running, batch];
    try {
      await batch.done;
    } finally {
      running = running.filter((other) => other !== batch);
    }
    return requests.map(({ hashes, needs }) => answers(hashes, needs));
  }

  /** Waits for earlier batches that bring a part that is needed, so that it is not asked for twice. */
  async function waitForOthers(needed: NeededParts): Promise<void> {
    const isAwaited = (other: NeededParts): boolean =>
      [...needed].some(([hash, needs]) => {
        const theirs = other.get(hash);
        if (theirs === undefined) return false;
        const open = openParts(hash, needs);
        return open !== undefined && (needsNothing(open) || brings(theirs, open));
      });
    const awaited = running.filter((other) => isAwaited(other.needed));
    await Promise.allSettled(awaited.map(({ done }) => done));
  }

  async function loadNeeded(needed: NeededParts): Promise<void> {
    const folds = [...needed].filter(([, { fold }]) => fold === true);
    if (folds.length > MAX_FOLDS) {
      for (const [hash, needs] of needed) fail(hash, needs, tooManyFolds(folds.length));
      return;
    }
    await recall(openOf(needed));
    const wanted = openOf(needed);
    const first = planFirstCalls(wanted);
    await run(first);
    await run(planRemainingCalls(openOf(wanted), first));
    await settleClusters(needed);
    store();
  }

  async function recall(open: NeededParts): Promise<void> {
    const cached = open.size === 0 ? [] : await cache.getMany([...open.keys()]);
    if (cached.length > 0) up.onCacheHit?.('proteins', cached.length);
    for (const record of cached) {
      const newer = known.get(record.hash);
      known.set(record.hash, newer ? mergeRecords(record, newer) : record);
      cacheable.set(record.hash, record);
    }
  }

  async function run({ records, bulk }: Plan): Promise<void> {
    await Promise.all([
      ...Array.from(records, ([hash, needs]) => runRecord(hash, needs, records.size === 1)),
      ...bulk.map(runBulk),
    ]);
    for (const hash of [...records.keys(), ...bulk.flatMap(({ each }) => [...each.keys()])])
      joinCluster(hash);
  }

  async function runRecord(hash: string, needs: RequiredParts, isLone: boolean): Promise<void> {
    const query = { top: topOf(needs), foldOnMiss: needs.fold === true, normalize: true };
    const key = `protein ${hash} ${query.top} ${query.foldOnMiss}`;
    const read = () => singleFlight(key, up.signal, (call) => readFolded(up, hash, query, call));
    try {
      const found = await (isLone ? read() : limitRecords(read));
      take(hash, found && readRecord(hash, needs, found), needsLargePart(needs));
      askedOf(hash).record = true;
    } catch (error) {
      fail(hash, needs, error);
    }
  }

  async function runBulk(call: BulkCall): Promise<void> {
    try {
      const key = `bulk ${digest('sha256', JSON.stringify([call.needs, ...call.each]))}`;
      const archive = await limitBulk(() =>
        singleFlight(key, up.signal, (shared) =>
          fetchArchive({ ...up, signal: shared.signal }, downloads, call, shared),
        ),
      );
      await takeArchive(call, archive);
    } catch (error) {
      for (const [hash, needs] of call.each) fail(hash, needs, error);
    }
  }

  async function takeArchive({ each, needs }: BulkCall, parts: BulkParts): Promise<void> {
    for (const [representative, record] of parts.clusters) {
      const info = readClusterInfo(record);
      if (info !== undefined) clusterInfos.set(representative, info);
    }
    const isRanked = await hasRankedLevels(each, parts);
    const problem = parts.problems[0];
    for (const hash of each.keys()) {
      const record = readArchived(hash, needs, parts, isRanked);
      // A record that was read has proven that the protein exists.
      if (record !== undefined && (record !== null || !askedOf(hash).record)) take(hash, record);
      if (problem !== undefined) damaged.set(hash, damagedArchive(problem));
      else askedOf(hash).archive = unionParts([askedOf(hash).archive, needs]);
    }
  }

  /**
   * Whether the activations of an archive without rankings have the scale of the records' rankings,
   * which the service does not say: compares the record of one protein.
   */
  async function hasRankedLevels(each: NeededParts, parts: BulkParts): Promise<boolean> {
    const unranked = [...each].filter(([hash, { features, residues }]) => {
      const found = parts.features.get(hash);
      const isWanted = features !== undefined || residues !== undefined;
      return isWanted && found?.top === undefined && (found?.proteinLevel?.indices.length ?? 0) > 0;
    });
    // One whose record is needed anyway, where there is one.
    const [hash, needs] = unranked.find(([one]) => !parts.clusters.has(one)) ?? unranked[0] ?? [];
    const level = hash === undefined ? undefined : parts.features.get(hash)?.proteinLevel;
    if (hash === undefined || needs === undefined || level === undefined) return false;
    const ranking = () => partValue(known.get(hash)?.features ?? UNKNOWN);
    if ((ranking()?.top ?? 0) < topOf(needs)) await runRecord(hash, needs, true);
    return isRankingOf(ranking()?.values ?? [], level);
  }

  /** Joins the representative that a record named with what an archive says of its cluster. */
  function joinCluster(hash: string): void {
    const record = known.get(hash);
    if (!record) return;
    const link = partValue(record.cluster);
    if (link === undefined || link.info !== UNKNOWN) return;
    const info = clusterInfos.get(link.representative);
    if (info !== undefined) take(hash, { ...emptyRecord(hash), cluster: { ...link, info } });
  }

  /**
   * A protein whose record names no cluster represents one, or is in none: only the 404 of the
   * cluster's own record proves the latter.
   */
  async function settleClusters(needed: NeededParts): Promise<void> {
    const settle = async (hash: string, needs: RequiredParts): Promise<void> => {
      const record = known.get(hash);
      if (!record || !needsCluster(needs) || failures.has(hash)) return;
      const link = partValue(record.cluster);
      if (link !== undefined && needs.cluster === true && link.info === UNKNOWN)
        known.set(hash, { ...record, cluster: { ...link, info: null } });
      if (record.cluster !== UNKNOWN || !record.namesNoCluster) return;
      const cluster = await clusters
        .load(hash)
        .then((found) => found && { representative: hash, info: found.record }, asError);
      if (cluster === null || cluster instanceof Error) known.set(hash, { ...record, cluster });
      else take(hash, { ...emptyRecord(hash), cluster });
    };
    await Promise.all(Array.from(needed, ([hash, needs]) => settle(hash, needs)));
  }

  function answers(hashes: readonly string[], needs: RequiredParts): readonly LoadResult[] {
    const found = new Map<string, LoadResult>();
    return hashes.map((hash) => {
      const one = found.get(hash) ?? answer(hash, needs);
      found.set(hash, one);
      return one;
    });
  }

  function answer(hash: string, needs: RequiredParts): LoadResult {
    const record = known.get(hash);
    if (record === null) return null;
    const error = damaged.get(hash) ?? failures.get(hash)?.error;
    if (record === undefined)
      return error ?? drift('The upstream answered, but did not say whether it holds this protein.');
    const missing = missingParts(needs, availableParts(record));
    if (needsNothing(missing)) return record;
    if (missing.fold === true && error !== undefined) return error;
    const absent = provenNone(askedOf(hash), missing);
    const open = missingParts(missing, absent);
    const settled = needsNothing(absent) ? record : withParts(record, absent, null);
    if (needsNothing(open)) return settled;
    return withParts(
      settled,
      open,
      error ??
        drift(
          `The upstream's answer to protein has changed at ${pathOf(open)}: expected a value, seen ` +
            'nothing; its bulk archive has none either.',
        ),
    );
  }

  const tick = new DataLoader<ProteinRequest, readonly LoadResult[]>(loadBatch, {
    cache: false,
    batchScheduleFn: setImmediate,
  });
  const loadMany: ProteinLoader['loadMany'] = (hashes, needs) => tick.load({ hashes, needs });
  return {
    async load(hash, needs) {
      const [found = null] = await loadMany([hash], needs);
      if (found instanceof Error) throw found;
      return found;
    },
    loadMany,
    async findCached(hash, needs) {
      const open = openOf(new Map([[hash, needs]]));
      await recall(open);
      return openParts(hash, needs) === undefined ? (known.get(hash) ?? undefined) : undefined;
    },
    prime(record) {
      const { hash, from } = record;
      const before = known.get(hash);
      if (before === null) return;
      if (partValue(from)?.fromCache === true)
        known.set(hash, before ? mergeRecords(before, record) : record);
      else take(hash, record);
      store();
    },
    loadFeatures: createFeatureValueLoader(up, limitRecords, (hash, record) => {
      take(hash, record, false);
      store();
    }),
  };
}

/** Whether a load of some parts brings any of others. */
const brings = (parts: RequiredParts, open: RequiredParts): boolean =>
  needNames(missingParts(open, parts)).length < needNames(open).length;

const OF_STRUCTURE: ReadonlySet<Need> = new Set<Need>(['structure', 'ptm', 'meanPlddt']);
const OF_ROWS: ReadonlySet<Need> = new Set<Need>(['residues', 'rows']);

/** Neither record nor archive had it: there is none. */
const provenNone = ({ record, archive }: Asked, missing: RequiredParts): RequiredParts =>
  pickParts(
    missing,
    (need) =>
      record &&
      ((OF_STRUCTURE.has(need) && needsStructure(archive)) || (OF_ROWS.has(need) && needsRows(archive))),
  );

/** What each protein needs for all requests. */
function mergeRequests(requests: readonly ProteinRequest[]): Map<string, RequiredParts> {
  const needed = new Map<string, RequiredParts>();
  for (const { hashes, needs } of requests) {
    for (const hash of hashes) {
      const others = needed.get(hash);
      needed.set(hash, others === undefined ? needs : unionParts([others, needs]));
    }
  }
  return needed;
}
