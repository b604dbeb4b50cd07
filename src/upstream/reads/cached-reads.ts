// Reads of public data by one key each, cached for all callers: feature details, UniProt entries and
// thumbnails. Identical reads in flight are one call, which aborts when the last caller does.
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { createEtag } from '../../etag.ts';
import type { Cache } from '../../store/cache/cache.ts';
import * as atlas from '../atlas.ts';
import type { WithRaw } from '../atlas-request.ts';
import { asError } from '../errors.ts';
import type { Upstream } from '../http/upstream-client.ts';
import { drifted } from '../http/validate-response.ts';
import { isSequenceOf } from '../proteins/record-parts.ts';
import { type FeatureDetail, featureDetail, type UniprotRecord } from '../wire.ts';

/** Cache of such reads; `name` labels their metrics. */
export interface CachedReads<T> {
  readonly cache: Cache<T>;
  readonly name: string;
}

/**
 * The value of a key, from the cache or by `load`.
 *
 * @param load - receives the upstream with the signal that aborts after the last caller
 */
const cachedRead = <T, R extends T | null>(
  { cache, name }: CachedReads<T>,
  up: Upstream,
  key: string,
  load: (up: Upstream) => Promise<R>,
): Promise<T | R> =>
  cache.wrap<R>(key, (signal) => load({ ...up, signal }), {
    signal: up.signal,
    onHit: () => up.onCacheHit?.(name, 1),
  });

/** One read waits at most behind this many others of its request. */
const IN_FLIGHT = 8;

/** The loader of one request; null for what there is not. */
function createLoader<K extends string | number, T>(
  up: Upstream,
  reads: CachedReads<T>,
  load: (up: Upstream, key: K) => Promise<T | null>,
): DataLoader<K, T | null> {
  const limited = pLimit(IN_FLIGHT);
  const read = async (key: K): Promise<T | null | Error> => {
    try {
      const found = await cachedRead(reads, up, String(key), (shared) => limited(() => load(shared, key)));
      if (found === null) up.absences?.add(String(key));
      return found;
    } catch (error) {
      return asError(error);
    }
  };
  return new DataLoader((keys) => Promise.all(keys.map(read)));
}

/** A feature's details and the JSON they came as. */
export type LoadedFeature = WithRaw<FeatureDetail>;
/** Features by their index in the catalogue. */
export type FeatureLoader = ReturnType<typeof createFeatureLoader>;

/** Keys without which details are not whole; the others may be left out. */
const LISTS = ['top_100_uniref_ids', 'top_swissprot_activations', 'decoder_nearest_neighbors'] as const;
const KEYS = featureDetail.keyof().options;

/** Whether details have every list, and no key that came in a form that cannot be read. */
export const isWholeFeature = ({ record, raw }: LoadedFeature): boolean =>
  LISTS.every((key) => record[key] !== undefined) &&
  KEYS.every((key) => record[key] !== undefined || !Object.hasOwn(Object(raw), key));

export const createFeatureLoader = (up: Upstream, reads: CachedReads<LoadedFeature>) =>
  createLoader<number, LoadedFeature>(up, reads, atlas.feature);

/** An entry and the JSON it came as. */
export type LoadedEntry = WithRaw<UniprotRecord>;
/** Entries by accession or entry name. */
export type UniprotLoader = ReturnType<typeof createUniprotLoader>;

const HASH = /^[0-9a-f]{32}$/;

/** @throws UpstreamError UPSTREAM_DRIFT for an entry whose hash is not that of its sequence, or none */
async function checkedEntry(up: Upstream, id: string): Promise<LoadedEntry | null> {
  const entry = await atlas.uniprot(up, id);
  const { protein_hash: hash, sequence } = entry?.record ?? {};
  if (hash != null && !(sequence == null ? HASH.test(hash) : isSequenceOf(hash, sequence)))
    throw drifted('uniprot', '$.protein_hash', 'expected the MD5 of the sequence, seen another');
  return entry;
}

export const createUniprotLoader = (up: Upstream, reads: CachedReads<LoadedEntry>) =>
  createLoader<string, LoadedEntry>(up, reads, checkedEntry);

/** Our word for a thumbnail type, as it stands in URLs, and the upstream's. */
export const THUMBNAIL_TYPES = { PLDDT: 'plddt', PCT_CHARACTERIZED: 'pct-characterized' } as const;

export interface Thumbnail {
  readonly png: Buffer<ArrayBuffer>;
  /** A strong entity tag, with its quotes; computed once and cached with the bytes. */
  readonly etag: string;
}
export type Thumbnails = ReturnType<typeof openThumbnails>;

export const openThumbnails = (reads: CachedReads<Thumbnail>) => ({
  /** The image, or null when the protein or its structure does not exist. */
  get: (up: Upstream, hash: string, type: string) =>
    cachedRead(reads, up, `${type}:${hash}`, async (shared) => {
      const bytes = await atlas.thumbnail(shared, hash, type);
      if (bytes === null) return null;
      const png = Buffer.from(bytes);
      return { png, etag: createEtag(png) };
    }),
});
