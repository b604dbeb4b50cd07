// This request's proteins: every part asked for in one tick, over every protein, merged into the fewest calls (one bulk
// call for each 500 hashes with exactly the union of the flags, or the single record). Results map by hash. It knows the
// Atlas operations and the bulk archive, nothing of GraphQL.
import DataLoader from 'dataloader';
import * as atlas from './atlas.ts';
import { fetchBulk } from './bulk-fetch.ts';
import type { Downloads } from './download.ts';
import { UpstreamError } from './errors.ts';
import type { Upstream } from './http.ts';
import { limiter } from './limit.ts';
import { emptyData, fromBulk, fromRecord, hadBy, mergeData, type ProteinData } from './protein-data.ts';
import { joinNeeds, lackingNeeds, needsNothing, needsRecord, type ProteinNeeds } from './protein-needs.ts';
import type { FeatureValue } from './wire.ts';

/** Hashes in one bulk call at most (spec, section Limits). */
export const BULK_HASHES = 500;
const BULK_IN_FLIGHT = 4;
const RECORDS_IN_FLIGHT = 8;

/** Features other than the normalised top ranking: exact indices, or raw values. */
export interface FeatureVariant {
  readonly top: number;
  readonly normalize: boolean;
  readonly indices?: readonly number[] | undefined;
}

export interface ProteinLoader {
  /** Loads what is needed of a protein. Null when the Atlas does not hold it. @throws UpstreamError when that could not be found out */
  load(hash: string, needs: ProteinNeeds): Promise<ProteinData | null>;
  /** What is known of a protein without asking anybody. */
  peek(hash: string): ProteinData | undefined;
  /** Features by exact index or unscaled. Null when the Atlas does not hold the protein. */
  variant(hash: string, variant: FeatureVariant): Promise<readonly FeatureValue[] | null>;
  /** Takes in what another answer said of a protein, so that it is not asked for again. */
  prime(data: ProteinData): void;
}

interface Wanted {
  readonly hash: string;
  readonly needs: ProteinNeeds;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** The loader of one request. */
export function createProteinLoader(up: Upstream, downloads: Downloads): ProteinLoader {
  const known = new Map<string, ProteinData>();
  const pending = new Map<string, { needs: ProteinNeeds; promise: Promise<unknown> }[]>();
  const limitBulk = limiter(BULK_IN_FLIGHT);
  const limitRecords = limiter(RECORDS_IN_FLIGHT);

  const take = (data: ProteinData) => {
    known.set(data.hash, mergeData(known.get(data.hash) ?? emptyData(data.hash), data));
  };

  const loadRecord = async (hash: string, needs: ProteinNeeds): Promise<void> => {
    const top = Math.max(needs.regions ?? 0, needs.features ?? 0, 1);
    const found = await limitRecords(() =>
      atlas.protein(up, hash, { top, foldOnMiss: needs.fold === true, normalize: true }),
    );
    take(fromRecord(hash, top, needs.fold === true, found));
  };

  const loadBulk = async (hashes: readonly string[], needs: ProteinNeeds): Promise<Map<string, Error>> => {
    const failed = new Map<string, Error>();
    const parts = await limitBulk(() => fetchBulk(up, downloads, hashes, needs));
    for (const hash of hashes) {
      const { data, problem } = fromBulk(hash, needs, parts);
      take(data);
      if (problem !== undefined) failed.set(hash, problem);
    }
    return failed;
  };

  /** Loads everything wanted in one tick; a hash's failure stays that hash's. */
  const loadAll = async (wanted: ReadonlyMap<string, ProteinNeeds>): Promise<Map<string, Error>> => {
    const failed = new Map<string, Error>();
    const fail = (hashes: readonly string[]) => (error: unknown) => {
      for (const hash of hashes) failed.set(hash, asError(error));
    };
    const single = (hash: string, needs: ProteinNeeds) => loadRecord(hash, needs).catch(fail([hash]));

    const calls: Promise<unknown>[] = [];
    const forBulk = new Map<string, ProteinNeeds>();
    const lone = wanted.size === 1;
    for (const [hash, needs] of wanted) {
      if (needsRecord(needs) || (lone && needs.cluster !== true)) {
        calls.push(single(hash, needs));
        if (needs.cluster === true) forBulk.set(hash, { cluster: true });
      } else {
        forBulk.set(hash, needs);
      }
    }
    const hashes = [...forBulk.keys()];
    const union = joinNeeds(forBulk.values());
    for (let start = 0; start < hashes.length; start += BULK_HASHES) {
      const part = hashes.slice(start, start + BULK_HASHES);
      const call = loadBulk(part, union).then((problems) => {
        for (const [hash, problem] of problems) failed.set(hash, problem);
      });
      calls.push(call.catch(fail(part)));
    }
    await Promise.all(calls);

    // What an archive did not hold, the single record does.
    await Promise.all(
      hashes.map((hash) => {
        const data = known.get(hash);
        if (data === undefined || data.exists === false || failed.has(hash)) return undefined;
        const lacking = lackingNeeds(forBulk.get(hash) ?? {}, hadBy(data));
        return needsNothing(lacking) ? undefined : single(hash, { ...lacking, record: true });
      }),
    );
    return failed;
  };

  const tick = new DataLoader<Wanted, true>(
    async (keys) => {
      const wanted = new Map<string, ProteinNeeds>();
      for (const { hash, needs } of keys) wanted.set(hash, joinNeeds([wanted.get(hash) ?? {}, needs]));
      const failed = await loadAll(wanted);
      return keys.map(({ hash }) => failed.get(hash) ?? true);
    },
    { cache: false },
  );

  const variants = new DataLoader<
    { hash: string; variant: FeatureVariant },
    readonly FeatureValue[] | null,
    string
  >(
    (keys) =>
      Promise.all(
        keys.map(({ hash, variant }) =>
          limitRecords(() => atlas.protein(up, hash, { ...variant, foldOnMiss: false })).then((found) => {
            // Everything but the features is the same as in the plain record.
            take(fromRecord(hash, 0, false, found));
            return found === null ? null : (found.record.sae_features ?? []);
          }, asError),
        ),
      ),
    { cacheKeyFn: ({ hash, variant }) => `${hash} ${JSON.stringify(variant)}` },
  );

  const request = (hash: string, needs: ProteinNeeds): Promise<unknown> => {
    const promise = tick.load({ hash, needs });
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
      const before = known.get(hash);
      const lacking = lackingNeeds(needs, before === undefined ? {} : hadBy(before));
      if (!needsNothing(lacking)) {
        const underway = pending.get(hash) ?? [];
        const rest = lackingNeeds(lacking, joinNeeds(underway.map((entry) => entry.needs)));
        const awaited = underway
          .filter((entry) => Object.keys(entry.needs).some((need) => need in lacking))
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
    peek: (hash) => known.get(hash),
    variant: (hash, variant) => variants.load({ hash, variant }),
    prime: take,
  };
}
