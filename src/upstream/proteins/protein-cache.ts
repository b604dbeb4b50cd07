// The cache of proteins, part by part, so that later requests fetch only the missing parts: in
// memory, and in the store where there is one. Public data only. Neither errors nor the absence of a
// protein are cached.
import { LRUCache } from 'lru-cache';
import { createPrivateField } from '../../private-field.ts';
import type { CacheOptions, SharedCache } from '../../store/cache/cache.ts';
import {
  type CachedPart,
  extentOf,
  isIdentity,
  isReplaced,
  keyOf,
  partsOf,
  readPart,
  sizeOf,
  writePart,
} from './cached-parts.ts';
import {
  availablePartsOf,
  type Mutable,
  mergePresent,
  type PresentProtein,
  type ProteinData,
  type Source,
} from './protein-data.ts';
import { isSatisfied, partsFor, type RequiredParts } from './required-parts.ts';

export type ProteinCache = ReturnType<typeof createProteinCache>;

/** What answers of more proteins than this say is not written to the store. */
const SHORT_LIST = 20;

const YEAR = 365 * 24 * 3_600_000;

export interface ProteinCacheOptions {
  /** Milliseconds that what may change is cached; 0: nothing is. */
  readonly ttl: number;
  /** Of all proteins in memory together. */
  readonly maxBytes: number;
  readonly parts: SharedCache | undefined;
  /** By hash, of which proteins there may be parts in the store: of most there are none. */
  readonly known: SharedCache | undefined;
  readonly onLookup?: CacheOptions<never>['onLookup'];
}

export function createProteinCache(options: ProteinCacheOptions) {
  const { ttl, maxBytes, parts: store, known, onLookup } = options;
  /** Of each protein the parts that together hold all that is known, the oldest first. */
  const local = new LRUCache<string, readonly CachedPart[]>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes / 2),
    // lru-cache takes whole numbers.
    sizeCalculation: (parts, hash) => Math.ceil(parts.reduce((sum, part) => sum + sizeOf(part), hash.length)),
  });

  /** Until when a part is fresh. */
  const endOf = (part: CachedPart): number =>
    part.from.retrievedAt.getTime() + (isIdentity(part) ? YEAR : ttl);

  const remember = (hash: string, parts: readonly CachedPart[]): void => {
    const before = local.peek(hash) ?? [];
    const others = before.filter((old) => !parts.some((part) => isReplaced(old, part)));
    local.set(hash, others.length === 0 ? parts : [...others, ...parts]);
  };

  /** What memory has of a protein that is still fresh, answer by answer. */
  const recall = (hash: string, now: number): PresentProtein[] => {
    const answers: Mutable[] = [];
    let last: Source | undefined;
    for (const part of local.get(hash) ?? []) {
      if (endOf(part) <= now) continue;
      const answer = part.from === last ? answers.at(-1) : undefined;
      if (answer !== undefined) Object.assign(answer, part.data);
      else answers.push({ hash, state: 'present', ...part.data, from: { ...part.from, fromCache: true } });
      last = part.from;
    }
    return answers;
  };

  /** Looks in the store for what memory has not. */
  const readStore = async (
    found: ProteinData[],
    lacking: ReadonlyMap<string, RequiredParts>,
    unknown: ReadonlySet<string>,
    stored: SharedCache,
  ): Promise<ProteinData[]> => {
    const existing = unknown.size === 0 ? undefined : await known?.getMany([...unknown]);
    const keys = new Map<string, string>();
    for (const [hash, needs] of lacking) {
      if (unknown.has(hash) && existing?.has(hash) !== true) continue;
      for (const part of partsFor(needs)) keys.set(keyOf(part, hash), hash);
    }
    const memory = found.length;
    const values = keys.size === 0 ? undefined : await stored.getMany([...keys.keys()]);
    for (const [key, value] of values ?? []) {
      const hash = keys.get(key) ?? '';
      const part = readPart(value);
      remember(hash, [part]);
      found.push({ hash, state: 'present', ...part.data, from: part.from });
    }
    onLookup?.('proteins', { memory, store: found.length - memory, missing: lacking.size });
    return found;
  };

  /** What of each answer has been written: hundreds of requests may share one. */
  const toStore = createPrivateField<Source, Set<string>>();

  const writeStore = (hash: string, from: Source, parts: readonly CachedPart[]): void => {
    const now = Date.now();
    const before = toStore.get(from) ?? new Set<string>();
    toStore.set(from, before);
    for (const part of parts) {
      const key = keyOf(part.part, hash);
      const extent = `${key} ${extentOf(part)}`;
      const left = endOf(part) - now;
      if (before.has(extent)) continue;
      before.add(extent);
      const written = left > 0 ? writePart(part) : undefined;
      if (written !== undefined) store?.set(key, written, left);
    }
    if (before.has(hash)) return;
    before.add(hash);
    known?.set(hash, true, YEAR);
  };

  return {
    /** What is cached of what is needed. */
    read(wanted: ReadonlyMap<string, RequiredParts>): ProteinData[] | Promise<ProteinData[]> {
      if (ttl === 0) return [];
      const now = Date.now();
      const found: ProteinData[] = [];
      const lacking = new Map<string, RequiredParts>();
      const unknown = new Set<string>();
      for (const [hash, needs] of wanted) {
        const answers = recall(hash, now);
        found.push(...answers);
        if (answers.length === 0) unknown.add(hash);
        else if (isSatisfied(needs, availablePartsOf(answers.reduce(mergePresent)))) continue;
        lacking.set(hash, needs);
      }
      if (lacking.size > 0 && store !== undefined) return readStore(found, lacking, unknown, store);
      onLookup?.('proteins', { memory: found.length, store: 0, missing: lacking.size });
      return found;
    },
    /**
     * Caches an answer about a protein.
     *
     * @param company - proteins in the answer: long lists are cached in memory only
     * @param asked - what a record was requested for: its large parts are cached when one of them was
     */
    write(data: ProteinData, company: number = 1, asked?: RequiredParts) {
      const { hash, state, from } = data;
      if (ttl === 0 || state !== 'present' || from === undefined || from.fromCache) return;
      const parts = partsOf(data, from, asked);
      remember(hash, parts);
      if (company <= SHORT_LIST) writeStore(hash, from, parts);
    },
  };
}
