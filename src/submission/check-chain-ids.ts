// Checks the ids of the chains of an item.
import { type ItemIssues, quote } from './issues.ts';
import type { Item } from './submission.ts';

const USUAL_CHAIN_ID = /^[^\s\p{C}]{1,32}$/u;

function checkId(id: string, at: string, firstPaths: Map<string, string>, { wrong, odd }: ItemIssues): void {
  const earlier = firstPaths.get(id);
  if (id.trim() === '') {
    wrong(at, 'BAD_CHAIN_ID', `${quote(id)} is not a chain id.`, 'Name the chain, such as "A".');
  } else if (earlier !== undefined) {
    wrong(
      at,
      'DUPLICATE_CHAIN_ID',
      `The chain id ${quote(id)} is taken by ${earlier}.`,
      'Every copy of every chain of an item has an id of its own.',
    );
  } else {
    firstPaths.set(id, at);
    if (!USUAL_CHAIN_ID.test(id)) {
      odd(
        at,
        'UNUSUAL_CHAIN_ID',
        `${quote(id)} is long, or has white space or control characters in it.`,
        'Structure files hold such names badly. Use up to 32 letters and digits, such as "A".',
      );
    }
  }
}

export function checkChainIds(item: Item, issues: ItemIssues): void {
  const { odd } = issues;
  const firstPaths = new Map<string, string>();
  for (const [c, chain] of item.chains.entries()) {
    if (chain.ids === null) continue;
    const path = `chains.${c}.${chain.type}.ids`;
    if (chain.ids.length === 0) {
      odd(
        path,
        'EMPTY_LIST',
        'The list of ids is empty and counts as left out.',
        'Leave it out, or name each copy, such as ["A", "B"].',
      );
    }
    for (const [i, id] of chain.ids.entries()) {
      checkId(id, `${path}.${i}`, firstPaths, issues);
    }
    if (chain.ids.length > 1) {
      const length = chain.type === 'ligand' ? 0 : chain.sequence.length;
      odd(
        path,
        'COPIES_MULTIPLY',
        length === 0
          ? `${chain.ids.length} copies of this ligand are folded.`
          : `${chain.ids.length} copies of ${length} count as ${chain.ids.length * length}.`,
        'Every id is one more copy, and each copy counts toward length and credits. Name one id for a ' +
          'single chain.',
      );
    }
  }
  const unnamed = item.chains.findIndex((chain) => !chain.ids?.length);
  if (firstPaths.size > 0 && unnamed >= 0) {
    odd(
      `chains.${unnamed}`,
      'MIXED_CHAIN_IDS',
      'Some chains of this item have ids and this one has none.',
      'The upstream will choose one for it; name it yourself to be able to refer to it.',
    );
  }
}
