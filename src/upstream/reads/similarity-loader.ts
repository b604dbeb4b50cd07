// The similarity searches of one request, cached for later ones by sequence and arguments. Hits'
// structures are fetched only when selected; the protein loader receives what hits say of proteins.
import { createHash } from 'node:crypto';
import DataLoader from 'dataloader';
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { SingleFlight } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { partValue, UNKNOWN } from '../part.ts';
import type { ProteinLoader } from '../proteins/loader.ts';
import { structureParts } from '../proteins/read-record.ts';
import { emptyRecord, type ProteinRecord, type Source } from '../proteins/record.ts';
import type { SimilarityAnswer, SimilarProtein } from '../wire.ts';

export interface LoadedSearch {
  readonly answer: SimilarityAnswer;
  readonly at: number;
}

export interface SimilarityLoader {
  /** Searches. @param structures - whether the hits' structures are wanted as well */
  search(query: atlas.SimilarityQuery, structures: boolean): Promise<SimilarityAnswer>;
}

/** Shared by the searches of all requests; `cache` is undefined without caching. */
export interface SimilarityDependencies {
  readonly cache: Cache<LoadedSearch> | undefined;
  readonly singleFlight: SingleFlight;
}

interface SearchKey {
  readonly query: atlas.SimilarityQuery;
  readonly structures: boolean;
}

const IN_FLIGHT = 4;

const cacheKey = (query: atlas.SimilarityQuery): string =>
  createHash('sha256').update(JSON.stringify(query)).digest('base64url');

/** The record of the protein in a hit. */
function toRecord(hit: SimilarProtein, from: Source): ProteinRecord {
  const { protein_hash: hash, protein_accession: accession, sequence_length: length, ptm } = hit;
  const read = structureParts({ ...hit, sequence: undefined, length: length ?? undefined }, hit);
  // Without a sequence a structure that is not of its length cannot be checked: others have it as
  // well.
  const isWhole = hit.pdb != null && partValue(read.structure)?.fault == null;
  return {
    ...emptyRecord(hash, from),
    accession: accession ?? UNKNOWN,
    length: length ?? UNKNOWN,
    ...(isWhole ? read : {}),
    ptm: ptm ?? UNKNOWN,
    meanPlddt: hit.mean_plddt ?? (isWhole ? read.meanPlddt : UNKNOWN),
  };
}

const withoutStructures = (answer: SimilarityAnswer): SimilarityAnswer => ({
  ...answer,
  similar_proteins: answer.similar_proteins.map(({ pdb: _, ...hit }) => ({
    ...hit,
    residues_plddt: undefined,
  })),
});

/**
 * The searches of a tick wait for each other, so that what is selected on their hits is one bulk
 * call.
 */
export function createSimilarityLoader(
  up: Upstream,
  { cache, singleFlight }: SimilarityDependencies,
  proteins: Pick<ProteinLoader, 'prime'>,
): SimilarityLoader {
  const limited = createConcurrencyLimit(IN_FLIGHT);

  async function load({ query, structures }: SearchKey): Promise<SimilarityAnswer> {
    const key = cacheKey(query);
    const cached = await cache?.get(key);
    if (cached !== undefined) up.onCacheHit?.('searches', 1);
    const { answer, at } = cached ?? (await limited(() => searchShared(key, { query, structures })));
    const from = {
      operation: 'similarity',
      retrievedAt: at,
      fromCache: cached !== undefined,
      requestId: undefined,
    };
    for (const hit of answer.similar_proteins) proteins.prime(toRecord(hit, from));
    if (cached !== undefined) return answer;
    const plain = withoutStructures(answer);
    await cache?.set(key, { answer: plain, at });
    return plain;
  }

  const searchShared = (key: string, { query, structures }: SearchKey): Promise<LoadedSearch> =>
    singleFlight(`similarity ${key} ${structures}`, up.signal, async ({ signal }) => ({
      answer: await atlas.similarity({ ...up, signal }, query, structures),
      at: Date.now(),
    }));

  async function loadBatch(keys: readonly SearchKey[]): Promise<(SimilarityAnswer | Error)[]> {
    const searches = new Map<string, SearchKey>();
    for (const { query, structures } of keys) {
      const before = searches.get(cacheKey(query));
      searches.set(cacheKey(query), { query, structures: structures || before?.structures === true });
    }
    const answers = new Map([...searches].map(([key, search]) => [key, load(search).catch(asError)]));
    return Promise.all(
      keys.map(({ query }) => answers.get(cacheKey(query)) ?? new Error('A search was not begun.')),
    );
  }

  const loader = new DataLoader<SearchKey, SimilarityAnswer>(loadBatch, {
    cache: false,
    batchScheduleFn: setImmediate,
  });
  return { search: (query, structures) => loader.load({ query, structures }) };
}
