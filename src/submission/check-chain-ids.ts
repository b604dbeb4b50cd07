// Checks the ids of the chains of an item.

import { quote } from '../plain-text.ts';
import type { Chain } from './chain.ts';
import type { ItemIssues } from './issues.ts';
import type { Item } from './submission.ts';

/** The chain identifiers that every structure format but PDB can hold. */
const USUAL_CHAIN_ID = /^[\x21-\x7e]{1,32}$/;
/** The chain identifiers that a PDB file can hold. */
const PDB_CHAIN_ID = /^[\x21-\x7e]$/;
const MAX_PDB_COMPONENT = 3;

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
        `${quote(id)} is long, or has characters beyond ASCII, white space or control characters in it.`,
        'In structure files `_` stands for each such character. Use up to 32 letters and digits, such as "A".',
      );
    }
  }
}

/** The first name in a chain that is too long for PDB, and the place of its list. */
function findLongName(chain: Chain): { readonly name: string; readonly at: string } | undefined {
  const id = chain.ids?.find((one) => USUAL_CHAIN_ID.test(one) && !PDB_CHAIN_ID.test(one));
  if (id !== undefined) return { name: id, at: 'ids' };
  const codes = chain.type === 'ligand' ? (chain.ccd ?? []) : chain.modifications.map(({ ccd }) => ccd);
  const code = codes.find((one) => one.length > MAX_PDB_COMPONENT);
  return code === undefined
    ? undefined
    : { name: code, at: chain.type === 'ligand' ? 'ccd' : 'modifications' };
}

function warnOfPdb({ chains }: Item, { odd }: ItemIssues): void {
  for (const [c, chain] of chains.entries()) {
    const found = findLongName(chain);
    if (found === undefined) continue;
    odd(
      `chains.${c}.${chain.type}.${found.at}`,
      'NO_PDB_FILE',
      `The result will have no PDB file: ${quote(found.name)} is too long for its columns.`,
      'mmCIF holds it. For PDB use chain ids of one character and component codes of up to three.',
    );
    return;
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
  warnOfPdb(item, issues);
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
