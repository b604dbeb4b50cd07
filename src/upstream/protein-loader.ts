// This request's proteins: every part asked for in one tick, over every protein, merged into the fewest calls. What an
// earlier request learnt comes from the cache, what another is asking at this moment is shared. Results map by hash. It
// knows the Atlas operations and nothing of GraphQL.
import { isDeepStrictEqual } from 'node:util';
import { fetchBulk, isKeepable, type ReadProteins } from './bulk-fetch.ts';
import type { Downloads } from './download.ts';
import { asError, UpstreamError } from './errors.ts';
import { MOST_FOLDS, readFolded, tooManyFolds } from './fold-on-miss.ts';
import type { Upstream } from './http.ts';
import { limiter } from './limit.ts';
import { fromBulk, fromRecord } from './protein-answers.ts';
import { type ProteinCache, SHORT_LIST } from './protein-cache.ts';
import { emptyData, hadBy, mergeData, type ProteinData } from './protein-data.ts';
import {
  areMet,
  type HadNeeds,
  joinNeeds,
  lackingNeeds,
  needsNothing,
  type ProteinNeeds,
  topOf,
} from './protein-needs.ts';
import { type BulkCall, isInRecord, planCalls } from './protein-plan.ts';
import { createVariantLoader, type FeatureVariant, type VariantData } from './protein-variants.ts';
import type { Share } from './share.ts';

export { BULK_HASHES } from './protein-plan.ts';

const BULK_IN_FLIGHT = 4;
const RECORDS_IN_FLIGHT = 8;

export interface ProteinLoader {
  /** Loads what is needed of a protein. Null when the Atlas does not hold it. @throws UpstreamError when that could not be found out */
  load(hash: string, needs: ProteinNeeds): Promise<ProteinData | null>;
  /**
   * The same for a list, in its order, duplicates kept: one promise instead of a dozen for each. An error stands where `load` would throw it.
   *
   * @param onNext - given the first of them as soon as they are there, then those that follow, while others are still waited for
   */
  loadAll(
    hashes: readonly string[],
    needs: ProteinNeeds,
    onNext?: (found: readonly Found[]) => void,
  ): Promise<Found[]>;
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

/** What a protein of a list came to. */
export type Found = ProteinData | null | Error;

/** What the loaders of all requests have in common. */
export interface ProteinLoaderDependencies {
  readonly downloads: Downloads;
  readonly cache: ProteinCache;
  readonly share: Share;
}

type Failures = ReadonlyMap<string, Error>;

/** Somebody who waits for proteins. */
interface Waiting {
  readonly hashes: readonly string[];
  readonly needs: ProteinNeeds;
  /** Those who wait for the same calls. */
  readonly round: readonly Waiting[];
  /** How many of the proteins are not settled yet. */
  left: number;
  failures: Map<string, Error> | undefined;
  /** Told of each that is settled. */
  readonly onSettled: ((hash: string) => void) | undefined;
  /** Given what failed, once all are settled. */
  readonly promise: Promise<Failures | undefined>;
  readonly resolve: (failures: Failures | undefined) => void;
}

/** What is known of a protein, and which needs that meets, once somebody has asked. */
interface Known {
  readonly data: ProteinData;
  had: HadNeeds | undefined;
}

const NOTHING: HadNeeds = {};

/** A promise and how it is settled. */
function withResolver(): Pick<Waiting, 'promise' | 'resolve'> {
  let resolve: Waiting['resolve'] = () => undefined;
  const promise = new Promise<Failures | undefined>((yes) => {
    resolve = yes;
  });
  return { promise, resolve };
}

/** @throws what one of the proteins failed with */
function raise(failures: Failures | undefined, hash: string): void {
  const error = failures?.get(hash);
  if (error !== undefined) throw error;
}

/**
 * Gives the hashes of a list on in their order, as far as none before them is still open.
 *
 * @returns to be told of each that is open no more
 */
function inOrder(
  hashes: readonly string[],
  open: Set<string>,
  give: (some: readonly string[]) => void,
): (hash: string) => void {
  let at = 0;
  let isDue = false;
  const go = (): void => {
    isDue = false;
    const from = at;
    while (at < hashes.length && !open.has(hashes[at] ?? '')) at += 1;
    if (at > from) give(hashes.slice(from, at));
  };
  return (hash) => {
    open.delete(hash);
    // An archive brings several in one turn.
    if (!isDue) queueMicrotask(go);
    isDue = true;
  };
}

/** The loader of one request. */
export function createProteinLoader(
  up: Upstream,
  { downloads, cache, share }: ProteinLoaderDependencies,
): ProteinLoader {
  const known = new Map<string, Known>();
  const pending = new Map<string, readonly Waiting[]>();
  const limitBulk = limiter(BULK_IN_FLIGHT);
  const limitRecords = limiter(RECORDS_IN_FLIGHT);
  let variants: ProteinLoader['variant'] | undefined;

  const dataOf = (hash: string): ProteinData | undefined => known.get(hash)?.data;
  const take = (data: ProteinData) => {
    const before = dataOf(data.hash);
    known.set(data.hash, { data: before === undefined ? data : mergeData(before, data), had: undefined });
  };
  const learn = (data: ProteinData) => {
    take(data);
    cache.write(data);
  };
  const hadOf = (hash: string): HadNeeds => {
    const one = known.get(hash);
    if (one === undefined) return NOTHING;
    one.had ??= hadBy(one.data);
    return one.had;
  };
  const lacks = (hash: string, needs: ProteinNeeds): ProteinNeeds => lackingNeeds(needs, hadOf(hash));

  /** Takes in what is kept of what is needed; at once where no store has to be asked. */
  const recall = (asked: ReadonlyMap<string, ProteinNeeds>): Promise<void> | undefined => {
    const takeAll = (kept: readonly ProteinData[]): void => {
      if (kept.length > 0) up.onCacheHit?.('proteins', kept.length);
      for (const data of kept) take(data);
    };
    const reading = cache.read(asked);
    if (reading instanceof Promise) return reading.then(takeAll);
    takeAll(reading);
    return undefined;
  };

  const loadRecord = async (hash: string, needs: ProteinNeeds): Promise<void> => {
    const query = { top: topOf(needs), foldOnMiss: needs.fold === true, normalize: true };
    const found = await limitRecords(() =>
      share(`protein ${hash} ${query.top} ${query.foldOnMiss}`, up.signal, (run) =>
        readFolded(up, hash, query, run),
      ),
    );
    const data = fromRecord(hash, needs, found);
    const own = needs.cluster === true ? { ...data, clusterless: true } : data;
    take(own);
    cache.write(own, 1, needs);
  };

  const loadBulk = async (
    { hashes, needs }: BulkCall,
    forBulk: ReadonlyMap<string, ProteinNeeds>,
    onLoaded: (hash: string) => void,
  ): Promise<[string, Error][]> => {
    const each = new Map(hashes.map((hash) => [hash, forBulk.get(hash) ?? {}]));
    const areAlike = hashes.every((hash) => each.get(hash) === needs);
    const isKept = hashes.length > SHORT_LIST && isKeepable(needs);
    const learnRead = (data: ProteinData) => {
      take(data);
      if (isKept) cache.writeAgain(data);
      else cache.write(data, hashes.length);
    };
    // Who waits for a protein has it as soon as it is read; what others need of it comes with the whole.
    const done = new Set<string>();
    const onRead = ({ hashes: some, soFar }: ReadProteins): void => {
      for (const hash of some) {
        const own = each.get(hash) ?? {};
        learnRead(fromBulk(hash, own, soFar).data);
        if (own === needs || isDeepStrictEqual(own, needs)) done.add(hash);
        onLoaded(hash);
      }
    };
    const read = await limitBulk(() =>
      share(
        `bulk ${JSON.stringify([needs, areAlike ? hashes : [...each]])}`,
        up.signal,
        (run) => fetchBulk({ ...up, signal: run.signal }, downloads, needs, each, run),
        onRead,
      ),
    );
    if (isKept && read.archive !== undefined) cache.keep(read.archive);
    return hashes.flatMap((hash) => {
      if (done.has(hash)) return [];
      const { data, problem } = fromBulk(hash, needs, read);
      learnRead(data);
      return problem === undefined ? [] : [[hash, problem] as [string, Error]];
    });
  };

  /** Loads everything wanted in one tick; a hash's failure stays that hash's. @param onLoaded - told of each that is there before the others */
  const loadWanted = async (
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
    const reading = recall(asked);
    if (reading !== undefined) await reading;
    const wanted = new Map<string, ProteinNeeds>();
    for (const [hash, needs] of asked) {
      const lacking = lacks(hash, needs);
      // What was learnt before folding is out of date with it.
      if (!needsNothing(lacking)) wanted.set(hash, lacking.fold === true ? needs : lacking);
    }
    for (const hash of asked.keys()) if (!wanted.has(hash)) onLoaded(hash);
    const { records, bulk, forBulk } = planCalls(wanted);
    const onRead = (hash: string): void => {
      if (areMet(wanted.get(hash) ?? NOTHING, hadOf(hash))) onLoaded(hash);
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
        if (dataOf(hash)?.exists !== true || failed.has(hash)) return undefined;
        const lacking = lacks(hash, needs);
        return needsNothing(lacking) ? undefined : loadRecord(hash, lacking).catch(fail([hash]));
      }),
    );
    return failed;
  };

  /** Loads a protein for whoever asks for nothing else: its record says it all, there is nothing to plan. */
  const loadLone = async (round: readonly Waiting[], hash: string, needs: ProteinNeeds): Promise<void> => {
    const reading = recall(new Map([[hash, needs]]));
    if (reading !== undefined) await reading;
    const lacking = lacks(hash, needs);
    if (!needsNothing(lacking)) await loadRecord(hash, lacking.fold === true ? needs : lacking);
    settle(round, hash);
  };

  const loadRound = async (round: readonly Waiting[]): Promise<void> => {
    const [first] = round;
    const [lone] = first?.hashes ?? [];
    if (round.length === 1 && first?.hashes.length === 1 && lone !== undefined && isInRecord(first.needs))
      return loadLone(round, lone, first.needs);
    const wanted = new Map<string, ProteinNeeds>();
    for (const { hashes, needs } of round) {
      for (const hash of hashes) {
        const others = wanted.get(hash);
        wanted.set(hash, others === undefined ? needs : joinNeeds([others, needs]));
      }
    }
    const failed = await loadWanted(wanted, (hash) => settle(round, hash));
    for (const hash of wanted.keys()) settle(round, hash, failed.get(hash));
  };

  /** Lets go of who waits for a protein in a round, which is done once. */
  const settle = (round: readonly Waiting[], hash: string, error?: Error): void => {
    const queue = pending.get(hash) ?? [];
    const others = queue.filter((one) => one.round !== round);
    if (others.length === queue.length) return;
    if (others.length === 0) pending.delete(hash);
    else pending.set(hash, others);
    for (const one of queue) {
      if (one.round !== round) continue;
      if (error !== undefined) {
        one.failures ??= new Map();
        one.failures.set(hash, error);
      }
      one.left -= 1;
      if (one.left === 0) one.resolve(one.failures);
      else one.onSettled?.(hash);
    }
  };

  let coming: Waiting[] = [];
  /** Everything that can be asked for without waiting for an answer is asked for before the calls are planned. */
  const request = (
    hashes: readonly string[],
    needs: ProteinNeeds,
    onSettled?: Waiting['onSettled'],
  ): Waiting => {
    const round = coming;
    const left = hashes.length;
    const one: Waiting = { hashes, needs, round, left, failures: undefined, onSettled, ...withResolver() };
    const alone = [one];
    for (const hash of hashes) {
      const queue = pending.get(hash);
      pending.set(hash, queue === undefined ? alone : [...queue, one]);
    }
    coming.push(one);
    if (coming.length === 1)
      setImmediate(() => {
        coming = [];
        loadRound(round).catch((error: unknown) => {
          for (const other of round) for (const hash of other.hashes) settle(round, hash, asError(error));
        });
      });
    return one;
  };

  /** What is known now, everything having been asked for. */
  const given = (hash: string, needs: ProteinNeeds): ProteinData | null => {
    const data = dataOf(hash);
    if (data === undefined || data.exists === undefined) {
      if (needsNothing(needs)) return data ?? emptyData(hash);
      throw new UpstreamError('The upstream answered, but said nothing of this protein.', {
        operation: 'bulk',
        code: 'UPSTREAM_DRIFT',
        retryable: false,
      });
    }
    return data.exists ? data : null;
  };

  const load = async (hash: string, needs: ProteinNeeds): Promise<ProteinData | null> => {
    const lacking = lacks(hash, needs);
    if (needsNothing(lacking)) return given(hash, needs);
    const underway = pending.get(hash);
    if (underway === undefined) {
      raise(await request([hash], lacking).promise, hash);
      return given(hash, needs);
    }
    const rest = lackingNeeds(lacking, joinNeeds(underway.map((entry) => entry.needs)));
    // Only what brings something of it is waited for: another part may be slow, or fail.
    const awaited = underway
      .filter((entry) => !isDeepStrictEqual(lackingNeeds(lacking, entry.needs), lacking))
      .map((entry) => entry.promise);
    const all = needsNothing(rest) ? awaited : [...awaited, request([hash], rest).promise];
    await Promise.all(all.map((one) => one.then((failures) => raise(failures, hash))));
    return given(hash, needs);
  };

  return {
    load,
    async loadAll(hashes, needs, onNext) {
      const open = new Set(hashes);
      const others = new Map<string, Found>();
      let failures: () => Failures | undefined = () => undefined;
      const answerOf = (hash: string): Found => {
        const other = others.get(hash) ?? failures()?.get(hash);
        if (other !== undefined) return other;
        try {
          return given(hash, needs);
        } catch (error) {
          return asError(error);
        }
      };
      const note = onNext && inOrder(hashes, open, (some) => onNext(some.map(answerOf)));
      const unknown: string[] = [];
      const loading: Promise<void>[] = [];
      for (const hash of open) {
        if (!known.has(hash) && !pending.has(hash)) unknown.push(hash);
        else
          loading.push(
            load(hash, needs)
              .catch(asError)
              .then((found) => {
                others.set(hash, found);
                note?.(hash);
              }),
          );
      }
      if (unknown.length > 0) {
        const one = request(unknown, needs, note);
        failures = () => one.failures;
        await one.promise;
      }
      await Promise.all(loading);
      return hashes.map(answerOf);
    },
    have(hash, needs) {
      const data = dataOf(hash);
      if (data?.exists === undefined || !areMet(needs, hadOf(hash))) return undefined;
      return data.exists ? data : null;
    },
    peek: dataOf,
    async recall(hash, needs) {
      if (!areMet(needs, hadOf(hash))) {
        for (const data of await cache.read(new Map([[hash, needs]]))) take(data);
      }
      return areMet(needs, hadOf(hash)) ? dataOf(hash) : undefined;
    },
    variant(hash, variant) {
      variants ??= createVariantLoader(up, limitRecords, (found, record) =>
        learn(fromRecord(found, null, record)),
      );
      return variants(hash, variant);
    },
    prime: (data) => learn(data),
  };
}
