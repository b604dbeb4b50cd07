// The protein loader of one request: the parts that are needed in one tick, over every protein,
// become the fewest calls. A protein is null only when its absence is proven.
import { hash as digest } from 'node:crypto';
import DataLoader from 'dataloader';
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { SingleFlight } from '../../async/single-flight.ts';
import type { BulkParts } from '../archive/bulk.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { partValue, UNKNOWN } from '../part.ts';
import type { ClusterInfo, ClusterRecord } from '../wire.ts';
import { hasSameRanking } from './activations.ts';
import { createFeatureValueLoader, type LoadFeatures } from './feature-values.ts';
import { damagedArchive, fetchArchive } from './fetch-archive.ts';
import { MAX_FOLDS, readFolded, tooManyFolds } from './fold-on-miss.ts';
import { isFromCache, KnownProteins, type LoadResult } from './known-proteins.ts';
import type { RequiredParts } from './parts.ts';
import { type BulkCall, type NeededParts, type Plan, planFirstCalls, planRemainingCalls } from './plan.ts';
import type { ProteinCache } from './protein-cache.ts';
import { readArchived, readClusters } from './read-archive.ts';
import { readRecord } from './read-record.ts';
import { createSource, emptyRecord, type ProteinRecord } from './record.ts';
import { packAnswer } from './record-answer.ts';
import {
  missingParts,
  needsCluster,
  needsNothing,
  needsSequenceOnly,
  partNames,
  topFeatureCount,
  unionParts,
} from './required-parts.ts';

const BULK_IN_FLIGHT = 4;
const RECORDS_IN_FLIGHT = 8;
/** Top features that come with every record, so that a later query finds them in it. */
const MIN_FEATURES = 10;

export interface ProteinLoader {
  /**
   * A protein with the parts that are needed; of a part that could not be loaded the record holds
   * the error. Null when the Atlas has proven that it does not have the protein.
   *
   * @throws UpstreamError when no answer said whether it exists
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

/** The dependencies that the loaders of all requests share. */
export interface ProteinLoaderDependencies {
  readonly cache: ProteinCache;
  readonly singleFlight: SingleFlight;
}

/** Loads the record of a cluster; null for a hash that represents none. */
type LoadCluster = (representative: string) => Promise<{ readonly record: ClusterRecord } | null>;

interface ProteinRequest {
  readonly hashes: readonly string[];
  readonly needs: RequiredParts;
}

/** A batch under way. */
interface RunningBatch {
  readonly needed: NeededParts;
  readonly done: Promise<void>;
}

/** The loader of one request. */
export function createProteinLoader(
  up: Upstream,
  { cache, singleFlight }: ProteinLoaderDependencies,
  loadCluster: LoadCluster,
): ProteinLoader {
  const limitBulk = createConcurrencyLimit(BULK_IN_FLIGHT);
  const limitRecords = createConcurrencyLimit(RECORDS_IN_FLIGHT);
  const known = new KnownProteins(up, cache);
  /** By representative, what archives said of clusters whose members only single records name. */
  const clusterInfos = new Map<string, ClusterInfo>();
  let running: readonly RunningBatch[] = [];

  async function loadBatch(requests: readonly ProteinRequest[]): Promise<(readonly LoadResult[])[]> {
    const needed = mergeRequests(requests);
    const batch = { needed, done: waitForOthers(needed).then(() => loadNeeded(needed)) };
    running = [...running, batch];
    try {
      await batch.done;
    } finally {
      running = running.filter((other) => other !== batch);
    }
    return requests.map(({ hashes, needs }) => known.results(hashes, needs));
  }

  /** Waits for earlier batches that bring a needed part, so that it is not asked for twice. */
  async function waitForOthers(needed: NeededParts): Promise<void> {
    const isAwaited = (other: NeededParts): boolean =>
      [...needed].some(([hash, needs]) => {
        const theirs = other.get(hash);
        const open = theirs && known.openParts(hash, needs);
        return open !== undefined && (needsNothing(open) || brings(theirs ?? {}, open));
      });
    const awaited = running.filter((other) => isAwaited(other.needed));
    await Promise.allSettled(awaited.map(({ done }) => done));
  }

  async function loadNeeded(needed: NeededParts): Promise<void> {
    const folds = [...needed.values()].filter(({ fold }) => fold === true).length;
    if (folds > MAX_FOLDS) {
      for (const [hash, needs] of needed) known.fail(hash, needs, tooManyFolds(folds));
      return;
    }
    await known.addLoaded(known.openNeeds(needed));
    const wanted = known.openNeeds(needed);
    const first = planFirstCalls(wanted);
    await run(first);
    await run(planRemainingCalls(known.openNeeds(wanted), first));
    await Promise.all(Array.from(needed, ([hash, needs]) => completeCluster(hash, needs)));
    known.store();
  }

  async function run({ records, bulk }: Plan): Promise<void> {
    await Promise.all([
      ...Array.from(records, ([hash, needs]) => runRecord(hash, needs)),
      ...bulk.map(runBulk),
    ]);
    for (const hash of records.keys()) joinCluster(hash);
    for (const { each } of bulk) for (const hash of each.keys()) joinCluster(hash);
  }

  async function runRecord(hash: string, needs: RequiredParts): Promise<void> {
    const query = {
      top: Math.max(topFeatureCount(needs), MIN_FEATURES),
      foldOnMiss: needs.fold === true,
      normalize: true,
    };
    const key = `protein ${hash} ${query.top} ${query.foldOnMiss}`;
    try {
      const found = await limitRecords(() =>
        singleFlight(key, up.signal, (call) => readFolded(up, hash, query, call)),
      );
      known.add(hash, found && { ...readRecord(hash, needs, found), answer: packAnswer(found) });
      known.addReadRecord(hash);
    } catch (error) {
      known.fail(hash, needs, error);
    }
  }

  async function runBulk(call: BulkCall): Promise<void> {
    try {
      const key = `bulk ${digest('sha256', JSON.stringify([call.needs, ...call.each.keys()]))}`;
      const archive = await limitBulk(() =>
        singleFlight(key, up.signal, (shared) =>
          fetchArchive({ ...up, signal: shared.signal }, call, shared),
        ),
      );
      await addArchive(call, archive);
    } catch (error) {
      for (const [hash, needs] of call.each)
        if (!hasRecordInstead(hash, call)) known.fail(hash, needs, error);
    }
  }

  /** Whether a record answers where a bulk call fails: a lone protein needs no archive. */
  const hasRecordInstead = (hash: string, { each, needs }: BulkCall): boolean =>
    each.size === 1 && needsSequenceOnly(needs) && !known.hasReadRecord(hash);

  async function addArchive({ each, needs }: BulkCall, parts: BulkParts): Promise<void> {
    const clusters = readClusters(parts);
    for (const [representative, info] of clusters) clusterInfos.set(representative, info);
    const isRanked = await hasRankedLevels(each, parts);
    const archive = { parts, clusters, isRanked: isRanked === true, from: createSource('bulk') };
    const problem = parts.problems[0];
    const { residues, rows: _, ...others } = needs;
    for (const hash of each.keys()) {
      const record = readArchived(hash, needs, archive);
      // A record that was read has proven that the protein exists.
      if (record !== undefined && (record !== null || !known.hasReadRecord(hash))) known.add(hash, record);
      if (problem !== undefined) known.addDamage(hash, damagedArchive(problem));
      else if (isRanked instanceof Error && residues !== undefined) {
        known.addReadArchive(hash, others);
        known.addDamage(hash, isRanked);
      } else known.addReadArchive(hash, needs);
    }
  }

  /**
   * Whether the activations of an archive without rankings have the scale of the records' rankings,
   * which the service does not say: compares the record of one protein. The error of that record
   * where it cannot be read.
   */
  async function hasRankedLevels(each: NeededParts, parts: BulkParts): Promise<boolean | Error> {
    const unranked = [...each].filter(([hash, { features, residues }]) => {
      const found = parts.features.get(hash);
      const isWanted = features !== undefined || residues !== undefined;
      return isWanted && found?.top === undefined && (found?.proteinLevel?.indices.length ?? 0) > 0;
    });
    // One whose record is needed anyway, where there is one.
    const [hash, needs] = unranked.find(([one]) => !parts.clusters.has(one)) ?? unranked[0] ?? [];
    const level = hash === undefined ? undefined : parts.features.get(hash)?.proteinLevel;
    if (hash === undefined || needs === undefined || level === undefined) return false;
    const ranking = () => partValue(known.get(hash)?.features);
    if ((ranking()?.top ?? 0) < topFeatureCount(needs)) await runRecord(hash, needs);
    const { values } = ranking() ?? {};
    return values === undefined ? (known.getFailure(hash) ?? false) : hasSameRanking(values, level);
  }

  /** Joins the representative that a record named with what an archive says of its cluster. */
  function joinCluster(hash: string): void {
    const link = partValue(known.get(hash)?.cluster);
    if (link === undefined || link.info !== undefined) return;
    const info = clusterInfos.get(link.representative);
    if (info !== undefined) known.add(hash, { ...emptyRecord(hash), cluster: { ...link, info } });
  }

  /**
   * A protein whose record names no cluster represents one, or is in none: only the 404 of the
   * cluster's own record proves the latter.
   */
  async function completeCluster(hash: string, needs: RequiredParts): Promise<void> {
    const record = known.get(hash);
    if (!record || !needsCluster(needs)) return;
    const link = partValue(record.cluster);
    const isUntold = link !== undefined && link.info === undefined && !known.hasFailed(hash, 'cluster');
    if (isUntold && needs.cluster === true)
      known.addUncached(hash, { ...emptyRecord(hash), cluster: { ...link, info: null } });
    if (record.cluster !== UNKNOWN || !record.namesNoCluster) return;
    const cluster = await loadCluster(hash).then(
      (found) => found && { representative: hash, info: found.record },
      asError,
    );
    const update = { ...emptyRecord(hash), cluster };
    if (cluster === null || cluster instanceof Error) known.addUncached(hash, update);
    else known.add(hash, update);
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
      await known.addLoaded(known.openNeeds(new Map([[hash, needs]])));
      return known.openParts(hash, needs) === undefined ? (known.get(hash) ?? undefined) : undefined;
    },
    prime(record) {
      if (known.get(record.hash) === null) return;
      if (isFromCache(record)) known.addUncached(record.hash, record);
      else known.add(record.hash, record);
      known.store();
    },
    loadFeatures: createFeatureValueLoader(up, limitRecords, (hash, record) => {
      known.add(hash, record);
      known.store();
    }),
  };
}

/** Whether a load of some parts brings any of others. */
const brings = (parts: RequiredParts, open: RequiredParts): boolean =>
  partNames(missingParts(open, parts)).length < partNames(open).length;

/** The needs of each protein, for all requests together. */
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
