// Lists of proteins: loaded with one promise, or sent while their structures still arrive.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { IncrementalList } from '../../execution/incremental-list.ts';
import { hasStreamDirective } from '../../execution/streamed-list.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import type { LoadResult } from '../../upstream/proteins/protein-loader.ts';
import type { RequiredParts } from '../../upstream/proteins/required-parts.ts';

/** Lists longer than this are sent while their structures still arrive. */
const MANY = 50;

/**
 * A list that grows as proteins are loaded.
 *
 * @param load - calls its argument with the results so far, and resolves with all
 */
export function incrementalList<T>(
  load: (onNext: (found: readonly LoadResult[]) => void) => Promise<readonly LoadResult[]>,
  itemsOf: (found: readonly LoadResult[]) => readonly (T | Promise<T>)[],
): IncrementalList<T> {
  const list = new IncrementalList<T>();
  let count = 0;
  const add = (found: readonly LoadResult[]): void => {
    // The loader reports results in a microtask, which may come after the promise of all.
    if (list.hasEnded) return;
    count += found.length;
    list.add(itemsOf(found));
  };
  load(add).then(
    (all) => {
      add(all.slice(count));
      list.end();
    },
    (error: unknown) => list.fail(error),
  );
  return list;
}

/** A list as Pothos takes it. */
export type LoadedList<T> = Promise<readonly (T | Promise<T>)[]> | Promise<IncrementalList<T>>;

/**
 * Loads a list of proteins, with one promise for all. The response may start before all are loaded
 * where it is large enough, or the query has @stream.
 *
 * @param itemsOf - makes the items of the next proteins; an Error is one that could not be loaded
 */
export function loadList<T>(
  { proteins }: GatewayContext,
  info: GraphQLResolveInfo,
  hashes: readonly string[],
  needs: RequiredParts,
  itemsOf: (found: readonly LoadResult[]) => readonly (T | Promise<T>)[],
): IncrementalList<T> | Promise<readonly (T | Promise<T>)[]> {
  const isLarge = needs.structure === true && hashes.length > MANY;
  if (isLarge || hasStreamDirective(info))
    return incrementalList((onNext) => proteins.loadAll(hashes, needs, onNext), itemsOf);
  return proteins.loadAll(hashes, needs).then(itemsOf);
}

/** A rejected promise as an entry of a list. */
function failing(error: Error): Promise<never> {
  const failed = Promise.reject(error);
  // The list may be abandoned before anything awaits this promise.
  failed.catch(() => undefined);
  return failed;
}

/** One object for each protein, also when a list repeats it, so that it is completed once. */
export function createRefs(): (found: readonly LoadResult[]) => (ProteinRef | null | Promise<never>)[] {
  const refs = new Map<string, ProteinRef>();
  return (found) =>
    found.map((data) => {
      if (data instanceof Error) return failing(data);
      if (data === null) return null;
      const ref = refs.get(data.hash) ?? { hash: data.hash };
      refs.set(data.hash, ref);
      return ref;
    });
}
