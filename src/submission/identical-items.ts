// Finds items with the same input. Only items that look alike are hashed: a hash of every item took
// half the time of a check.
import type { ChainSummary } from './check.ts';
import type { Item, Steps } from './submission.ts';
import { itemHash } from './wire-body.ts';

/** Chains of an item, and letters of each, that tell most different items apart. */
const COMPARED_CHAINS = 16;
const COMPARED_LETTERS = 200;

/** A text that identical items share. */
const likenessOf = ({ chains }: Item, summaries: readonly ChainSummary[]): string =>
  chains
    .slice(0, COMPARED_CHAINS)
    .map((chain, c) =>
      chain.type === 'ligand'
        ? (chain.smiles?.slice(0, COMPARED_LETTERS) ?? chain.ccd?.[0])
        : (summaries[c]?.proteinHash ?? chain.sequence.slice(0, COMPARED_LETTERS)),
    )
    .join(' ');

/** Creates the search for the first item with the same input, which is given every item in order. */
export function createTwinSearch() {
  /** By likeness the first item that has it; null once it has been hashed. */
  const firstAlike = new Map<string, { readonly index: number; readonly item: Item } | null>();
  const firstByHash = new Map<string, number>();
  function* firstSame(index: number, item: Item): Steps<number> {
    const hash = yield* itemHash(item);
    const first = firstByHash.get(hash) ?? index;
    firstByHash.set(hash, first);
    return first;
  }
  /** @returns null for the first */
  return function* find(index: number, item: Item, summaries: readonly ChainSummary[]): Steps<number | null> {
    const likeness = likenessOf(item, summaries);
    const alike = firstAlike.get(likeness);
    firstAlike.set(likeness, alike === undefined ? { index, item } : null);
    if (alike === undefined) return null;
    if (alike !== null) yield* firstSame(alike.index, alike.item);
    const first = yield* firstSame(index, item);
    return first === index ? null : first;
  };
}
