// The proteins that one request knows.
import type { Upstream } from '../http/upstream-client.ts';
import { availablePartsOf, mergeData, type PresentProtein, type ProteinData } from './protein-data.ts';
import { type AvailableParts, isSatisfied, missingParts, type RequiredParts } from './required-parts.ts';

export type KnownProteins = ReturnType<typeof createKnownProteins>;

/** What is known of a protein, and which needs that meets, once that was asked. */
interface Known {
  readonly data: ProteinData;
  had: AvailableParts | undefined;
}

const NOTHING: AvailableParts = {};

export function createKnownProteins({ onCacheHit, absences }: Pick<Upstream, 'onCacheHit' | 'absences'>) {
  const known = new Map<string, Known>();
  const get = (hash: string): ProteinData | undefined => known.get(hash)?.data;
  const present = (hash: string): PresentProtein | undefined => {
    const data = get(hash);
    return data?.state === 'present' ? data : undefined;
  };
  const take = (data: ProteinData): void => {
    const before = get(data.hash);
    if (data.state === 'absent') absences?.add(data.hash);
    known.set(data.hash, { data: before === undefined ? data : mergeData(before, data), had: undefined });
  };
  const hadOf = (hash: string): AvailableParts => {
    const one = known.get(hash);
    if (one?.data.state !== 'present') return NOTHING;
    one.had ??= availablePartsOf(one.data);
    return one.had;
  };
  return {
    get,
    /** The protein, if it is known to exist. */
    present,
    /** Whether it is known that it exists, or that it does not. */
    isSettled: (hash: string) => (get(hash)?.state ?? 'unknown') !== 'unknown',
    /** Whether that is known, and all that is needed of it. */
    isMet: (hash: string, needs: RequiredParts) => {
      const state = get(hash)?.state;
      return state === 'absent' || (state === 'present' && isSatisfied(needs, hadOf(hash)));
    },
    /** What of the needs is not known yet. */
    lacks: (hash: string, needs: RequiredParts) =>
      get(hash)?.state === 'absent' ? NOTHING : missingParts(needs, hadOf(hash)),
    /** Takes in what an answer said. */
    take,
    /** Takes in what was cached. */
    recalled(cached: readonly ProteinData[]) {
      if (cached.length > 0) onCacheHit?.('proteins', cached.length);
      for (const data of cached) take(data);
    },
    /** Notes that archive and record were both asked for a protein's cluster. */
    clusterAsked(hash: string) {
      const data = present(hash);
      if (data !== undefined) known.set(hash, { data: { ...data, clusterAsked: true }, had: undefined });
    },
  };
}
