// The similarity searches of one request, cached for later ones by sequence and arguments. Hits'
// structures are fetched only when selected; the protein loader receives what hits say of proteins.
import { createHash } from 'node:crypto';
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import type { SingleFlight } from '../../async/single-flight.ts';
import type { Cache } from '../../store/cache/cache.ts';
import { hasAtoms } from '../../structure/pdb.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import type { PresentProtein } from '../proteins/protein-data.ts';
import type { ProteinLoader } from '../proteins/protein-loader.ts';
import { RecordStructure, scoresAlone } from '../proteins/record-parts.ts';
import type { SimilarityAnswer, SimilarProtein } from '../wire.ts';

export interface LoadedSearch {
  readonly answer: SimilarityAnswer;
  readonly at: number;
}

export type SimilarityLoader = ReturnType<typeof createSimilarityLoader>;

/** What the searches of all requests share; `cache` is undefined without caching. */
export interface SimilarityDependencies {
  readonly cache: Cache<LoadedSearch> | undefined;
  readonly singleFlight: SingleFlight;
  readonly proteins: Pick<ProteinLoader, 'prime'>;
}

interface Asked {
  readonly query: atlas.SimilarityQuery;
  readonly structures: boolean;
}

const IN_FLIGHT = 4;

const keyOf = (query: atlas.SimilarityQuery): string =>
  createHash('sha256').update(JSON.stringify(query)).digest('base64url');

const structureOfHit = (hit: SimilarProtein, pdb: string) =>
  hasAtoms(pdb) ? new RecordStructure(hit, pdb.length, pdb.length) : scoresAlone(hit);

/** What a hit says of its protein, in the form of the protein loader. */
function dataOf(hit: SimilarProtein, at: number, fromCache: boolean): PresentProtein {
  const scores = { ptm: hit.ptm ?? null, meanPlddt: hit.mean_plddt ?? null };
  return {
    hash: hit.protein_hash,
    state: 'present',
    ...(hit.protein_accession == null ? {} : { accession: hit.protein_accession }),
    ...(hit.sequence_length == null ? {} : { length: hit.sequence_length }),
    ...(hit.ptm == null && hit.mean_plddt == null ? {} : { scores }),
    ...(hit.pdb == null ? {} : { structure: structureOfHit(hit, hit.pdb) }),
    from: { operation: 'similarity', retrievedAt: new Date(at), fromCache, requestId: undefined },
  };
}

const withoutStructures = (answer: SimilarityAnswer): SimilarityAnswer => ({
  ...answer,
  similar_proteins: answer.similar_proteins.map(({ pdb: _, ...hit }) => ({
    ...hit,
    residues_plddt: undefined,
  })),
});

export function createSimilarityLoader(
  up: Upstream,
  { cache, singleFlight, proteins }: SimilarityDependencies,
) {
  const limited = pLimit(IN_FLIGHT);

  const load = async ({ query, structures }: Asked): Promise<SimilarityAnswer> => {
    const key = keyOf(query);
    const cached = await cache?.get(key);
    if (cached !== undefined) up.onCacheHit?.('searches', 1);
    const { answer, at } =
      cached ??
      (await limited(() =>
        singleFlight(`similarity ${key} ${structures}`, up.signal, async ({ signal }) => ({
          answer: await atlas.similarity({ ...up, signal }, query, structures),
          at: Date.now(),
        })),
      ));
    for (const hit of answer.similar_proteins) proteins.prime(dataOf(hit, at, cached !== undefined));
    if (cached !== undefined) return answer;
    const plain = withoutStructures(answer);
    await cache?.set(key, { answer: plain, at });
    return plain;
  };

  // Waits for all searches of a tick, so that the fields selected on hits of several are one bulk
  // call.
  const loader = new DataLoader<Asked, SimilarityAnswer>(
    (keys) => {
      const searches = new Map<string, Asked>();
      for (const { query, structures } of keys) {
        const before = searches.get(keyOf(query));
        searches.set(keyOf(query), { query, structures: structures || before?.structures === true });
      }
      const answers = new Map([...searches].map(([key, asked]) => [key, load(asked).catch(asError)]));
      return Promise.all(
        keys.map(({ query }) => answers.get(keyOf(query)) ?? new Error('A search was not begun.')),
      );
    },
    { cache: false, batchScheduleFn: setImmediate },
  );
  return {
    /** Searches. @param structures - whether the hits' structures are wanted as well */
    search: (query: atlas.SimilarityQuery, structures: boolean) => loader.load({ query, structures }),
  };
}
