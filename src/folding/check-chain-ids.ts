// The rules of chain ids: one for each copy, unique over the item. It must not know what a chain is made of beyond its length.
import type { ItemNotes } from './issues.ts';
import type { Item } from './submission.ts';

const CHAIN_ID = /^[^\s\p{C}]{1,32}$/u;

/** Ids, over all chains of an item and all their copies. */
export function checkChainIds(item: Item, { wrong, odd }: ItemNotes): void {
  const first = new Map<string, string>();
  for (const [c, chain] of item.chains.entries()) {
    if (chain?.ids == null) continue;
    const path = `chains.${c}.${chain.type}.ids`;
    if (chain.ids.length === 0) {
      wrong(
        path,
        'EMPTY_LIST',
        'The list of ids is empty.',
        'Leave it out, or name each copy, such as ["A", "B"].',
      );
    }
    for (const [i, id] of chain.ids.entries()) {
      const at = `${path}.${i}`;
      if (!CHAIN_ID.test(id)) {
        wrong(
          at,
          'BAD_CHAIN_ID',
          `${JSON.stringify(id)} is no chain id.`,
          'Use 1 to 32 characters without white space, such as "A".',
        );
      } else if (first.has(id)) {
        wrong(
          at,
          'DUPLICATE_CHAIN_ID',
          `The chain id "${id}" is taken by ${first.get(id)}.`,
          'Every copy of every chain of an item has an id of its own.',
        );
      } else {
        first.set(id, at);
      }
    }
    if (chain.ids.length > 1) {
      const length = chain.type === 'ligand' ? 0 : chain.sequence.length;
      odd(
        path,
        'COPIES_MULTIPLY',
        length === 0
          ? `${chain.ids.length} copies of this ligand are folded.`
          : `${chain.ids.length} copies of ${length} count as ${chain.ids.length * length}.`,
        'Every id is one more copy, and each copy counts toward length and credits. Name one id for a single chain.',
      );
    }
  }
  const unnamed = item.chains.findIndex((chain) => chain !== null && chain.ids === null);
  if (first.size > 0 && unnamed >= 0) {
    odd(
      `chains.${unnamed}`,
      'MIXED_CHAIN_IDS',
      'Some chains of this item have ids and this one has none.',
      'The upstream will choose one for it; name it yourself to be able to refer to it.',
    );
  }
}
