// The upstream calls for a request's proteins: reads the cache, plans the fewest calls for the
// rest, and requests from one endpoint what the other's answer lost, so that silence proves
// nothing.
import { hash as digest } from 'node:crypto';
import type { SingleFlight } from '../../async/single-flight.ts';
import { createPrivateField } from '../../private-field.ts';
import { asError } from '../errors.ts';
import type { Downloads } from '../http/download.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { isRankingOf } from './activations.ts';
import { fetchBulk } from './bulk-fetch.ts';
import { clusterInfoOf, fromBulk, fromRecord, type ReadBulk } from './merge-answers.ts';
import type { ProteinCache } from './protein-cache.ts';
import type { Mutable, ProteinData } from './protein-data.ts';
import type { KnownProteins } from './protein-known.ts';
import { type BulkCall, planBulk, planCalls } from './protein-plan.ts';
import type { ReadRecord } from './protein-record.ts';
import { inArchive, missingParts, type RequiredParts, topOf } from './required-parts.ts';
import { MAX_FOLDS, readFolded, tooManyFolds } from './single-record.ts';

/** What the loaders of all requests have in common. */
export interface ProteinLoaderDependencies {
  readonly downloads: Downloads;
  readonly cache: ProteinCache;
  readonly singleFlight: SingleFlight;
}

/** Runs a task when fewer than a limit of others run. */
type Limited = <T>(task: () => Promise<T>) => Promise<T>;

export interface ProteinCallsOptions {
  readonly up: Upstream;
  readonly dependencies: ProteinLoaderDependencies;
  readonly known: KnownProteins;
  readonly limitBulk: Limited;
  readonly limitRecords: Limited;
}

/** Proteins and what is needed of each. */
type Wanted = ReadonlyMap<string, RequiredParts>;
/** Called with each protein whose needs are met. */
type OnLoaded = (hash: string) => void;

const NOTHING: RequiredParts = {};

/** What was read of records, by needs: hundreds of requests may share a record. */
const readings = createPrivateField<ReadRecord, Map<string, ReturnType<typeof fromRecord>>>();

/** What a record says, read once for all requests that share it and need the same. */
function readRecord(
  hash: string,
  needs: RequiredParts,
  found: ReadRecord | null,
): ReturnType<typeof fromRecord> {
  if (found === null) return fromRecord(hash, needs, found);
  const known = readings.get(found) ?? new Map<string, ReturnType<typeof fromRecord>>();
  readings.set(found, known);
  const key = JSON.stringify(needs);
  const data = known.get(key) ?? fromRecord(hash, needs, found);
  known.set(key, data);
  return data;
}

/** Loads everything wanted at once. @returns the error of each protein that could not be loaded */
export type LoadWanted = (asked: Wanted, onLoaded: OnLoaded) => Promise<Map<string, Error>>;

export function createProteinCalls({
  up,
  dependencies: { downloads, cache, singleFlight },
  known,
  limitBulk,
  limitRecords,
}: ProteinCallsOptions): LoadWanted {
  const { take, lacks } = known;
  /**
   * Clusters by representative in this request's archives; members only appear in single records.
   */
  const clusters = new Map<string, { readonly record: unknown; readonly read: ReadBulk }>();

  /** Joins the known rankings and rows to an answer, so that the cache never loses any of them. */
  const joinKnown = (data: ProteinData): ProteinData => {
    const whole = known.present(data.hash);
    if (data.state !== 'present' || whole === undefined) return data;
    const joined: Mutable = { ...data };
    if (data.features !== undefined && whole.features !== undefined) joined.features = whole.features;
    if (data.rows != null && whole.rows != null) joined.rows = whole.rows;
    return joined;
  };

  const loadRecord = async (hash: string, needs: RequiredParts, isLone: boolean): Promise<void> => {
    const query = { top: topOf(needs), foldOnMiss: needs.fold === true, normalize: true };
    const read = () =>
      singleFlight(`protein ${hash} ${query.top} ${query.foldOnMiss}`, up.signal, (run) =>
        readFolded(up, hash, query, run),
      );
    const found = await (isLone ? read() : limitRecords(read));
    const data = readRecord(hash, needs, found);
    take(data);
    cache.write(joinKnown(data), 1, needs);
  };

  /**
   * Whether the activations of an archive without rankings have the scale of the records' rankings,
   * which the service does not say: compares the record of one protein.
   */
  const isRanked = async (hashes: readonly string[], each: Wanted, { parts }: ReadBulk): Promise<boolean> => {
    const unranked = hashes.filter((hash) => {
      const { features, residues } = each.get(hash) ?? NOTHING;
      const found = parts.features.get(hash);
      const isWanted = features !== undefined || residues !== undefined;
      return isWanted && found?.top === undefined && (found?.proteinLevel?.indices.length ?? 0) > 0;
    });
    // One whose record is needed anyway, where there is one.
    const sample = unranked.find((hash) => !parts.clusters.has(hash)) ?? unranked[0];
    const level = parts.features.get(sample ?? '')?.proteinLevel;
    if (sample === undefined || level === undefined) return false;
    const own = each.get(sample) ?? NOTHING;
    if ((known.present(sample)?.features?.top ?? 0) < topOf(own))
      try {
        await loadRecord(sample, own, true);
      } catch {
        // The load that needs the record reports its error.
        return false;
      }
    return isRankingOf(known.present(sample)?.features?.values ?? [], level);
  };

  const loadBulk = async (bulk: BulkCall, forBulk: Wanted): Promise<[string, Error][]> => {
    const { hashes, needs, asksSequences } = bulk;
    const each = new Map(hashes.map((hash) => [hash, forBulk.get(hash) ?? NOTHING]));
    const areAlike = hashes.every((hash) => each.get(hash) === needs);
    const learn = (data: ReturnType<typeof fromBulk>['data']): void => {
      take(data);
      cache.write(joinKnown(data), hashes.length);
    };
    const read = await limitBulk(() =>
      singleFlight(
        `bulk ${digest('sha256', JSON.stringify([needs, asksSequences, areAlike ? hashes : [...each]]))}`,
        up.signal,
        (run) => fetchBulk({ ...up, signal: run.signal }, downloads, bulk, each, run),
      ),
    );
    for (const [representative, record] of read.parts.clusters)
      clusters.set(representative, { record, read });
    const hasScale = await isRanked(hashes, each, read);
    return hashes.flatMap((hash) => {
      const { data, problem } = fromBulk(hash, needs, read, hasScale);
      learn(data);
      return problem === undefined ? [] : [[hash, problem] as [string, Error]];
    });
  };

  /**
   * Joins the representative that a record named with what an archive says of its cluster. A record
   * names none for a representative, which an archive lists under its own hash.
   */
  const joinCluster = (hash: string): void => {
    const data = known.present(hash);
    const link = data?.cluster ?? { representative: hash, info: null };
    const said = data && link.info === null ? clusters.get(link.representative) : undefined;
    const info = said && clusterInfoOf(said.record);
    if (said === undefined || info == null) return;
    const { from } = said.read;
    const joined = { hash, state: 'present', cluster: { ...link, info }, from } as const;
    take(joined);
    cache.write(joined);
  };

  /** Takes in what is cached of what is needed; at once where no store has to be asked. */
  const recall = (asked: Wanted): Promise<void> | undefined => {
    const reading = cache.read(asked);
    if (reading instanceof Promise) return reading.then((cached) => known.recalled(cached));
    known.recalled(reading);
    return undefined;
  };

  return async (asked, onLoaded) => {
    const failed = new Map<string, Error>();
    const fail = (hashes: Iterable<string>) => (error: unknown) => {
      for (const hash of hashes) failed.set(hash, asError(error));
    };
    const folds = [...asked].filter(([, needs]) => needs.fold === true).map(([hash]) => hash);
    if (folds.length > MAX_FOLDS) {
      fail(asked.keys())(tooManyFolds(folds.length));
      return failed;
    }
    const reading = recall(asked);
    if (reading !== undefined) await reading;
    const wanted = new Map<string, RequiredParts>();
    for (const [hash, needs] of asked) {
      const lacking = lacks(hash, needs);
      if (known.isMet(hash, needs)) onLoaded(hash);
      // What was learnt before folding is out of date with it.
      else wanted.set(hash, lacking.fold === true ? needs : lacking);
    }
    const isMet = (hash: string): boolean => {
      joinCluster(hash);
      return known.isMet(hash, wanted.get(hash) ?? NOTHING);
    };
    const onRead = (hash: string): void => {
      if (isMet(hash)) onLoaded(hash);
    };
    const run = (records: Wanted, bulk: readonly BulkCall[], forBulk: Wanted): Promise<unknown> =>
      Promise.all([
        ...Array.from(records, ([hash, needs]) =>
          loadRecord(hash, needs, records.size === 1).then(() => onRead(hash), fail([hash])),
        ),
        ...bulk.map((call) =>
          loadBulk(call, forBulk).then((problems) => {
            for (const [hash, problem] of problems) failed.set(hash, problem);
          }, fail(call.hashes)),
        ),
      ]);

    const plan = planCalls(wanted, known.isSettled);
    await run(plan.records, plan.bulk, plan.forBulk);

    // Requests what an archive lacked from the record, and what a record lacked from an archive.
    const forRecord = new Map<string, RequiredParts>();
    const forBulk = new Map<string, RequiredParts>();
    for (const [hash, needs] of wanted) {
      if (failed.has(hash)) continue;
      if (isMet(hash)) {
        onLoaded(hash);
        continue;
      }
      const lacking = lacks(hash, needs);
      if (!plan.records.has(hash)) forRecord.set(hash, lacking);
      else {
        const more = inArchive(missingParts(lacking, plan.forBulk.get(hash) ?? NOTHING));
        if (more !== undefined) forBulk.set(hash, more);
      }
    }
    await run(forRecord, planBulk(forBulk, known.isSettled), forBulk);
    for (const [hash, needs] of wanted)
      if (needs.cluster === true && !failed.has(hash) && !isMet(hash)) known.clusterAsked(hash);
    return failed;
  };
}
