// Reads of public data by one key each, cached for all callers: feature details and UniProt
// entries. Identical reads in flight are one call, which aborts when the last caller does.
import DataLoader from 'dataloader';
import { createConcurrencyLimit } from '../../async/concurrency-limit.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/call.ts';
import { drifted, type WithRaw } from '../http/validate-response.ts';
import { matchesSequence } from '../proteins/check-record.ts';
import { type FeatureDetail, featureDetail, type UniprotRecord } from '../wire.ts';

/** Cache of such reads; `name` labels their metrics. */
export interface CachedReads<T> {
  readonly cache: Cache<T>;
  readonly name: string;
}

/** Reads one key. */
interface KeyLoader<K, T> {
  /** Null when the service has none. */
  load(key: K): Promise<T | null>;
}

/** One read waits at most behind this many others of its request. */
const IN_FLIGHT = 8;

/** @param load - receives the upstream with the signal that aborts after the last caller */
export const cachedRead = <T>(
  { cache, name }: CachedReads<T>,
  up: Upstream,
  key: string,
  load: (up: Upstream) => Promise<T | null>,
): Promise<T | null> =>
  cache.wrap(key, (signal) => load({ ...up, signal }), {
    signal: up.signal,
    onHit: () => up.onCacheHit?.(name, 1),
  });

function createKeyLoader<K extends string | number, T>(
  up: Upstream,
  reads: CachedReads<T>,
  load: (up: Upstream, key: K) => Promise<T | null>,
): KeyLoader<K, T> {
  const limited = createConcurrencyLimit(IN_FLIGHT);
  async function read(key: K): Promise<T | null> {
    const found = await cachedRead(reads, up, String(key), (shared) => limited(() => load(shared, key)));
    if (found === null) up.absences?.add(String(key));
    return found;
  }
  return new DataLoader<K, T | null>((keys) => Promise.all(keys.map((key) => read(key).catch(asError))));
}

export type LoadedFeature = WithRaw<FeatureDetail>;
export type FeatureLoader = KeyLoader<number, LoadedFeature>;

/** Keys without which details are not whole; the others may be left out. */
const LISTS = ['top_100_uniref_ids', 'top_swissprot_activations', 'decoder_nearest_neighbors'] as const;
const KEYS = featureDetail.keyof().options;

/** Whether details have every list, and no key that came in a form that cannot be read. */
export const isWholeFeature = ({ record, raw }: LoadedFeature): boolean =>
  LISTS.every((key) => record[key] !== undefined) &&
  KEYS.every((key) => record[key] !== undefined || !Object.hasOwn(Object(raw), key));

export const createFeatureLoader = (up: Upstream, reads: CachedReads<LoadedFeature>): FeatureLoader =>
  createKeyLoader(up, reads, atlas.feature);

export type LoadedEntry = WithRaw<UniprotRecord>;
export type UniprotLoader = KeyLoader<string, LoadedEntry>;

const HASH = /^[0-9a-f]{32}$/;

/**
 * @throws UpstreamError UPSTREAM_DRIFT for an entry whose hash is not that of its sequence, or none
 */
export function checkEntry({ protein_hash: hash, sequence }: LoadedEntry['record']): void {
  if (hash != null && !(sequence == null ? HASH.test(hash) : matchesSequence(hash, sequence)))
    throw drifted('uniprot', '$.protein_hash', 'expected the MD5 of the sequence, seen another');
}

async function readEntry(up: Upstream, id: string): Promise<LoadedEntry | null> {
  const entry = await atlas.uniprot(up, id);
  if (entry !== null) checkEntry(entry.record);
  return entry;
}

export const createUniprotLoader = (up: Upstream, reads: CachedReads<LoadedEntry>): UniprotLoader =>
  createKeyLoader(up, reads, readEntry);
