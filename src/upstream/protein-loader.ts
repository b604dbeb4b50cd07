// This request's proteins: every part asked for in one tick, over every protein, merged into the fewest calls. What an
// earlier request learnt comes from the cache, what another is asking at this moment is shared. Results map by hash. It
// knows the Atlas operations and nothing of GraphQL.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fetchBulk, type ReadProtein } from './bulk-fetch.ts';
import type { Downloads } from './download.ts';
import { asError, UpstreamError } from './errors.ts';
import { MOST_FOLDS, readFolded, tooManyFolds } from './fold-on-miss.ts';
import type { Upstream } from './http.ts';
import { limiter } from './limit.ts';
import { fromBulk, fromRecord } from './protein-answers.ts';
import type { ProteinCache } from './protein-cache.ts';
import { emptyData, hadBy, mergeData, type ProteinData } from './protein-data.ts';
import { joinNeeds, lackingNeeds, needsNothing, type ProteinNeeds, topOf } from './protein-needs.ts';
import { type BulkCall, planCalls } from './protein-plan.ts';
import { createVariantLoader, type FeatureVariant, type VariantData } from './protein-variants.ts';
import type { Share } from './share.ts';

export { BULK_HASHES } from './protein-plan.ts';

const BULK_IN_FLIGHT = 4;
const RECORDS_IN_FLIGHT = 8;

export interface ProteinLoader {
  /** Loads what is needed of a protein. Null when the Atlas does not hold it. @throws UpstreamError when that could not be found out */
  load(hash: string, needs: ProteinNeeds): Promise<ProteinData | null>;
  /** What `load` would give, where nobody has to be asked; undefined where somebody has. */
  have(hash: string, needs: ProteinNeeds): ProteinData | null | undefined;
  /** What is known of a protein without asking anybody. */
  peek(hash: string): ProteinData | undefined;
  /** What earlier requests learnt of a protein, when that is enough; undefined when somebody would have to be asked. */
  recall(hash: string, needs: ProteinNeeds): Promise<ProteinData | undefined>;
  /** Features by exact index or unscaled. Null when the Atlas does not hold the protein. */
  variant(hash: string, variant: FeatureVariant): Promise<VariantData | null>;
  /** Takes in what another answer said of a protein, so that it is not asked for again. */
  prime(data: ProteinData): void;
}

/** What the loaders of all requests have in common. */
export interface ProteinLoaderDependencies {
  readonly downloads: Downloads;
  readonly cache: ProteinCache;
  readonly share: Share;
}

/** Somebody who waits for a protein. */
interface Waiting {
  readonly hash: string;
  readonly needs: ProteinNeeds;
  resolve(): void;
  reject(error: Error): void;
}

const fingerprint = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');

/** The loader of one request. */
export function createProteinLoader(
  up: Upstream,
  { downloads, cache, share }: ProteinLoaderDependencies,
): ProteinLoader {
  const known = new Map<string, ProteinData>();
  const pending = new Map<string, { needs: ProteinNeeds; promise: Promise<unknown> }[]>();
  const limitBulk = limiter(BULK_IN_FLIGHT);
  const limitRecords = limiter(RECORDS_IN_FLIGHT);

  const take = (data: ProteinData) => {
    known.set(data.hash, mergeData(known.get(data.hash) ?? emptyData(data.hash), data));
  };
  const learn = (data: ProteinData, company = 1) => {
    take(data);
    cache.write(data, company);
  };
  /** Keeps the parts of a record; the whole of it, which holds them all once more, only when it was asked for. */
  const learnRecord = (data: ProteinData, whole: boolean) => {
    take(data);
    const { record, ...parts } = data;
    cache.write(whole ? data : parts);
  };
  const lacks = (hash: string, needs: ProteinNeeds): ProteinNeeds => {
    const data = known.get(hash);
    return lackingNeeds(needs, data === undefined ? {} : hadBy(data));
  };

  const loadRecord = async (hash: string, needs: ProteinNeeds): Promise<void> => {
    const query = { top: topOf(needs), foldOnMiss: needs.fold === true, normalize: true };
    const found = await limitRecords(() =>
      share(`protein ${hash} ${JSON.stringify(query)}`, up.signal, (run) => readFolded(up, hash, query, run)),
    );
    const data = fromRecord(hash, needs, found);
    learnRecord(
      needs.cluster === true ? { ...data, clusterless: true } : data,
      needs.record === true || needs.fold === true,
    );
  };

  const loadBulk = async (
    { hashes, needs }: BulkCall,
    forBulk: ReadonlyMap<string, ProteinNeeds>,
    onLoaded: (hash: string) => void,
  ): Promise<[string, Error][]> => {
    const each = new Map(hashes.map((hash) => [hash, forBulk.get(hash) ?? {}]));
    // Who waits for a protein has it as soon as it is read; what others need of it comes with the whole.
    const done = new Set<string>();
    const onProtein = ({ hash, soFar }: ReadProtein): void => {
      const own = each.get(hash) ?? {};
      learn(fromBulk(hash, own, soFar).data, hashes.length);
      if (isDeepStrictEqual(own, needs)) done.add(hash);
      onLoaded(hash);
    };
    const read = await limitBulk(() =>
      share(
        `bulk ${fingerprint([needs, [...each]])}`,
        up.signal,
        (run) => fetchBulk({ ...up, signal: run.signal }, downloads, needs, each, run),
        onProtein,
      ),
    );
    return hashes.flatMap((hash) => {
      if (done.has(hash)) return [];
      const { data, problem } = fromBulk(hash, needs, read);
      learn(data, hashes.length);
      return problem === undefined ? [] : [[hash, problem] as [string, Error]];
    });
  };

  /** Loads everything wanted in one tick; a hash's failure stays that hash's. @param onLoaded - told of each that is there before the others */
  const loadAll = async (
    asked: ReadonlyMap<string, ProteinNeeds>,
    onLoaded: (hash: string) => void,
  ): Promise<Map<string, Error>> => {
    const failed = new Map<string, Error>();
    const fail = (hashes: readonly string[]) => (error: unknown) => {
      for (const hash of hashes) failed.set(hash, asError(error));
    };
    const folds = [...asked].filter(([, needs]) => needs.fold === true).map(([hash]) => hash);
    if (folds.length > MOST_FOLDS) {
      fail([...asked.keys()])(tooManyFolds(folds.length));
      return failed;
    }
    const kept = await cache.read(asked);
    if (kept.length > 0) up.onCacheHit?.('proteins', kept.length);
    for (const data of kept) take(data);
    const wanted = new Map<string, ProteinNeeds>();
    for (const [hash, needs] of asked) {
      const lacking = lacks(hash, needs);
      // What was learnt before folding is out of date with it.
      if (!needsNothing(lacking)) wanted.set(hash, lacking.fold === true ? needs : lacking);
    }
    for (const hash of asked.keys()) if (!wanted.has(hash)) onLoaded(hash);
    const { records, bulk, forBulk } = planCalls(wanted);
    const onRead = (hash: string): void => {
      if (needsNothing(lacks(hash, wanted.get(hash) ?? {}))) onLoaded(hash);
    };
    await Promise.all([
      ...[...records].map(([hash, needs]) => loadRecord(hash, needs).then(() => onRead(hash), fail([hash]))),
      ...bulk.map((call) =>
        loadBulk(call, forBulk, onRead).then((problems) => {
          for (const [hash, problem] of problems) failed.set(hash, problem);
        }, fail(call.hashes)),
      ),
    ]);
    // What an archive did not hold, the single record does.
    await Promise.all(
      [...forBulk].map(([hash, needs]) => {
        if (known.get(hash)?.exists !== true || failed.has(hash)) return undefined;
        const lacking = lacks(hash, needs);
        return needsNothing(lacking) ? undefined : loadRecord(hash, lacking).catch(fail([hash]));
      }),
    );
    return failed;
  };

  const loadTick = async (waiting: readonly Waiting[]): Promise<void> => {
    const wanted = new Map<string, ProteinNeeds>();
    const waitingFor = new Map<string, Waiting[]>();
    for (const one of waiting) {
      const { hash, needs } = one;
      wanted.set(hash, joinNeeds([wanted.get(hash) ?? {}, needs]));
      const others = waitingFor.get(hash);
      if (others === undefined) waitingFor.set(hash, [one]);
      else others.push(one);
    }
    const onLoaded = (hash: string): void => {
      for (const { resolve } of waitingFor.get(hash) ?? []) resolve();
    };
    const failed = await loadAll(wanted, onLoaded);
    for (const { hash, resolve, reject } of waiting) {
      const error = failed.get(hash);
      if (error === undefined) resolve();
      else reject(error);
    }
  };

  let tick: Waiting[] = [];
  /** Everything that can be asked for without waiting for an answer is asked for before the calls are planned. */
  const inTick = (hash: string, needs: ProteinNeeds): Promise<void> =>
    new Promise((resolve, reject) => {
      tick.push({ hash, needs, resolve, reject });
      if (tick.length > 1) return;
      setImmediate(() => {
        const waiting = tick;
        tick = [];
        loadTick(waiting).catch((error: unknown) => {
          for (const one of waiting) one.reject(asError(error));
        });
      });
    });

  const request = (hash: string, needs: ProteinNeeds): Promise<unknown> => {
    const promise = inTick(hash, needs);
    const entry = { needs, promise };
    const queue = pending.get(hash) ?? [];
    queue.push(entry);
    pending.set(hash, queue);
    const done = () => {
      queue.splice(queue.indexOf(entry), 1);
      if (queue.length === 0) pending.delete(hash);
    };
    promise.then(done, done);
    return promise;
  };

  return {
    async load(hash, needs) {
      const lacking = lacks(hash, needs);
      if (!needsNothing(lacking)) {
        const underway = pending.get(hash) ?? [];
        const rest = lackingNeeds(lacking, joinNeeds(underway.map((entry) => entry.needs)));
        // Only what brings something of it is waited for: another part may be slow, or fail.
        const awaited = underway
          .filter((entry) => !isDeepStrictEqual(lackingNeeds(lacking, entry.needs), lacking))
          .map((entry) => entry.promise);
        await Promise.all(needsNothing(rest) ? awaited : [...awaited, request(hash, rest)]);
      }
      const data = known.get(hash);
      if (data === undefined || data.exists === undefined) {
        if (needsNothing(needs)) return data ?? emptyData(hash);
        throw new UpstreamError('The upstream answered, but said nothing of this protein.', {
          operation: 'bulk',
          code: 'UPSTREAM_DRIFT',
          retryable: false,
        });
      }
      return data.exists ? data : null;
    },
    have(hash, needs) {
      const data = known.get(hash);
      if (data?.exists === undefined || !needsNothing(lackingNeeds(needs, hadBy(data)))) return undefined;
      return data.exists ? data : null;
    },
    peek: (hash) => known.get(hash),
    async recall(hash, needs) {
      if (!needsNothing(lacks(hash, needs))) {
        for (const data of await cache.read(new Map([[hash, needs]]))) take(data);
      }
      return needsNothing(lacks(hash, needs)) ? known.get(hash) : undefined;
    },
    variant: createVariantLoader(up, limitRecords, (hash, record) => learn(fromRecord(hash, null, record))),
    prime: (data) => learn(data),
  };
}
