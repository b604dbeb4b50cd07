// The protein loader of one request: the parts needed in one tick, over every protein, become one
// plan of calls. A protein is null only when its absence is proven.
import { isDeepStrictEqual } from 'node:util';
import pLimit, { type LimitFunction } from 'p-limit';
import { asError, UpstreamError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { fromRecord } from './merge-answers.ts';
import { createProteinCalls, type ProteinLoaderDependencies } from './protein-calls.ts';
import { createProteinCollector, type Failures } from './protein-collector.ts';
import type { PresentProtein, ProteinData } from './protein-data.ts';
import { createKnownProteins } from './protein-known.ts';
import { missingParts, needsNothing, pathOf, type RequiredParts, unionParts } from './required-parts.ts';
import { createVariantLoader, type FeatureVariant, type VariantData } from './single-record.ts';

const BULK_IN_FLIGHT = 4;
const RECORDS_IN_FLIGHT = 8;

export type ProteinLoader = ReturnType<typeof createProteinLoader>;

/** What a protein of a list came to. */
export type LoadResult = PresentProtein | null | Error;

/** @throws what one of the proteins failed with */
function throwFailure(failures: Failures | undefined, hash: string): void {
  const error = failures?.get(hash);
  if (error !== undefined) throw error;
}

/** Neither archive nor record said what was asked. */
function unanswered(data: ProteinData | undefined, lacking: RequiredParts): UpstreamError {
  return new UpstreamError(
    data?.state === 'present'
      ? `The upstream's answer to protein has changed at ${pathOf(lacking)}: expected a value, seen ` +
          'nothing; its bulk archive has none either.'
      : 'The upstream answered, but did not say whether it holds this protein.',
    { operation: 'protein', code: 'UPSTREAM_DRIFT', retryable: false },
  );
}

/** p-limit, made when it is first used: that costs as much as reading the parts of a record. */
function lateLimit(most: number) {
  let limit: LimitFunction | undefined;
  return <T>(task: () => Promise<T>): Promise<T> => {
    limit ??= pLimit(most);
    return limit(task);
  };
}

/** The loader of one request. */
export function createProteinLoader(up: Upstream, dependencies: ProteinLoaderDependencies) {
  const limitBulk = lateLimit(BULK_IN_FLIGHT);
  const limitRecords = lateLimit(RECORDS_IN_FLIGHT);
  let variants: ProteinLoader['variant'] | undefined;

  const known = createKnownProteins(up);
  const { cache } = dependencies;
  const { request, pending } = createProteinCollector(
    createProteinCalls({ up, dependencies, known, limitBulk, limitRecords }),
  );
  const learn = (data: ProteinData): void => {
    known.take(data);
    cache.write(data);
  };
  /** Parts that a call failed to bring, and its error, which `load` throws where they are needed. */
  const failed = new Map<string, { readonly parts: RequiredParts; readonly error: Error }>();
  /** What is known of a protein of which a part failed; the error where it may not exist. */
  const keepKnown = (hash: string, needs: RequiredParts, error: Error): PresentProtein | Error => {
    const data = known.present(hash);
    if (data === undefined || needs.fold === true) return error;
    failed.set(hash, { parts: known.lacks(hash, needs), error });
    return data;
  };
  /** The protein after all calls. @throws UpstreamError when a needed part is missing */
  const given = (hash: string, needs: RequiredParts): PresentProtein | null => {
    const data = known.get(hash);
    if (data?.state === 'absent') return null;
    if (data?.state === 'present' && known.isMet(hash, needs)) return data;
    throw unanswered(data, known.lacks(hash, needs));
  };

  const load = async (hash: string, needs: RequiredParts): Promise<PresentProtein | null> => {
    if (known.isMet(hash, needs)) return given(hash, needs);
    const lacking = known.lacks(hash, needs);
    const before = failed.get(hash);
    if (before !== undefined && needsNothing(missingParts(lacking, before.parts))) throw before.error;
    const underway = pending(hash);
    if (underway === undefined) {
      throwFailure(await request([hash], lacking).promise, hash);
      return given(hash, needs);
    }
    const rest = missingParts(lacking, unionParts(underway.map((entry) => entry.needs)));
    // Wait only for loads that bring a needed part: another may be slow or fail. Any proves
    // existence.
    const awaited = underway
      .filter(
        (entry) => needsNothing(lacking) || !isDeepStrictEqual(missingParts(lacking, entry.needs), lacking),
      )
      .map((entry) => entry.promise);
    const all = needsNothing(rest) ? awaited : [...awaited, request([hash], rest).promise];
    await Promise.all(all.map((one) => one.then((failures) => throwFailure(failures, hash))));
    return given(hash, needs);
  };

  return {
    /**
     * Loads what is needed of a protein. Null when it provably does not exist.
     *
     * @throws UpstreamError when its existence, or a needed part, could not be found out
     */
    load,
    /**
     * Loads a list in its order, duplicates included. An error stands for a protein that may not
     * exist; of another, `load` throws the error for the part that failed.
     */
    async loadAll(hashes: readonly string[], needs: RequiredParts): Promise<LoadResult[]> {
      const open = new Set(hashes);
      const others = new Map<string, LoadResult>();
      let failures: () => Failures | undefined = () => undefined;
      const answerOf = (hash: string): LoadResult => {
        let found: LoadResult | undefined = others.get(hash) ?? failures()?.get(hash);
        try {
          found ??= given(hash, needs);
        } catch (error) {
          found = asError(error);
        }
        return found instanceof Error ? keepKnown(hash, needs, found) : found;
      };
      const unknown: string[] = [];
      const loading: Promise<void>[] = [];
      for (const hash of open) {
        if (known.get(hash) === undefined && pending(hash) === undefined) unknown.push(hash);
        else
          loading.push(
            load(hash, needs)
              .catch(asError)
              .then((found) => {
                others.set(hash, found);
              }),
          );
      }
      if (unknown.length > 0) {
        const one = request(unknown, needs);
        failures = () => one.failures;
        await one.promise;
      }
      await Promise.all(loading);
      return hashes.map(answerOf);
    },
    /** What `load` would give, where no call is needed; undefined where one is. */
    getSync(hash: string, needs: RequiredParts): PresentProtein | null | undefined {
      return known.isMet(hash, needs) ? (known.present(hash) ?? null) : undefined;
    },
    /** What is known of a protein that is known to exist, without a call. */
    peek: known.present,
    /** The cached protein if it has all that is needed; undefined when a call would be needed. */
    async getCached(hash: string, needs: RequiredParts): Promise<PresentProtein | undefined> {
      if (!known.isMet(hash, needs)) known.recalled(await cache.read(new Map([[hash, needs]])));
      return known.isMet(hash, needs) ? known.present(hash) : undefined;
    },
    /** Features by exact index or unscaled. Null when the Atlas does not hold the protein. */
    variant(hash: string, variant: FeatureVariant): Promise<VariantData | null> {
      variants ??= createVariantLoader(up, limitRecords, (found, record) =>
        learn(fromRecord(found, null, record)),
      );
      return variants(hash, variant);
    },
    /** Adds what another answer said of a protein, so that no call requests it again. */
    prime: learn,
  };
}
