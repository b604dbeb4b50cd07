// Looks at the sizes of an input before it is read: each list and each text has a maximum, so that
// an input that is refused for its size costs little.

import type { SubmissionInput } from './input.ts';
import type { AddIssue } from './issues.ts';

type ItemInput = SubmissionInput['items'][number];
type Texts = readonly string[] | null | undefined;

/** Entries of a list of an item: chains, ids, modifications, bonds, contacts, rows. */
const MAX_ENTRIES = 5000;
/** Characters of a sequence as it is pasted; the longest protein has some 40,000 residues. */
export const MAX_SEQUENCE = 200_000;
/** Characters of a SMILES: a protein of 1,000 residues has as many. */
const MAX_SMILES = 10_000;
/** Characters of all SMILES of a submission. */
const MAX_ALL_SMILES = 1_000_000;
/** Characters of an id, of a code and of the name of an atom. */
const MAX_ID = 1000;

interface SizeChecks {
  /** @param max - characters; those of an id when absent */
  checkText(path: string, text: string | null | undefined, max?: number): void;
  /** @returns the list; an empty one in place of one that is too long */
  checkList<T>(path: string, list: readonly T[] | null | undefined): readonly T[];
  checkTexts(path: string, texts: Texts): void;
}

function createSizeChecks(tooBig: AddIssue): SizeChecks {
  const checkText: SizeChecks['checkText'] = (path, text, max = MAX_ID) => {
    if (text != null && text.length > max)
      tooBig(path, 'TOO_LONG', `The text has ${text.length} characters.`, `Use ${max} at most.`);
  };
  const checkList = <T>(path: string, list: readonly T[] | null | undefined): readonly T[] => {
    if (list == null || list.length <= MAX_ENTRIES) return list ?? [];
    tooBig(path, 'TOO_MANY', `The list has ${list.length} entries.`, `Give ${MAX_ENTRIES} at most.`);
    return [];
  };
  const checkTexts = (path: string, texts: Texts): void => {
    for (const [i, text] of checkList(path, texts).entries()) checkText(`${path}.${i}`, text);
  };
  return { checkText, checkList, checkTexts };
}

function checkChain(
  chain: ItemInput['chains'][number],
  at: string,
  { checkText, checkList, checkTexts }: SizeChecks,
): void {
  for (const type of ['protein', 'rna', 'dna'] as const) {
    const polymer = chain[type];
    if (polymer == null) continue;
    checkTexts(`${at}.${type}.ids`, polymer.ids);
    checkText(`${at}.${type}.sequence`, polymer.sequence, MAX_SEQUENCE);
    const path = `${at}.${type}.modifications`;
    for (const [m, { ccd }] of checkList(path, polymer.modifications).entries())
      checkText(`${path}.${m}.ccd`, ccd);
  }
  checkTexts(`${at}.ligand.ids`, chain.ligand?.ids);
  checkTexts(`${at}.ligand.ccd`, chain.ligand?.ccd);
  checkText(`${at}.ligand.smiles`, chain.ligand?.smiles, MAX_SMILES);
}

function checkItem(item: ItemInput, at: string, checks: SizeChecks): void {
  const { checkText, checkList } = checks;
  for (const [c, chain] of checkList(`${at}.chains`, item.chains).entries())
    checkChain(chain, `${at}.chains.${c}`, checks);
  for (const [b, bond] of checkList(`${at}.covalentBonds`, item.covalentBonds).entries())
    for (const name of ['chainId1', 'chainId2', 'atomName1', 'atomName2'] as const)
      checkText(`${at}.covalentBonds.${b}.${name}`, bond[name]);
  const { pocket } = item;
  checkText(`${at}.pocket.binderChainId`, pocket?.binderChainId);
  for (const [c, { chainId }] of checkList(`${at}.pocket.contacts`, pocket?.contacts).entries())
    checkText(`${at}.pocket.contacts.${c}.chainId`, chainId);
  const path = `${at}.distogramConditioning`;
  for (const [d, { chainId, distogram }] of checkList(path, item.distogramConditioning).entries()) {
    checkText(`${path}.${d}.chainId`, chainId);
    checkList(`${path}.${d}.distogram`, distogram);
  }
}

/** @param tooBig - adds an issue for a list or a text that is longer than its maximum */
export function checkSizes(items: readonly ItemInput[], tooBig: AddIssue): void {
  const checks = createSizeChecks(tooBig);
  let smilesLength = 0;
  for (const [i, item] of items.entries()) {
    checkItem(item, `items.${i}`, checks);
    for (const { ligand } of item.chains) smilesLength += ligand?.smiles?.length ?? 0;
  }
  if (smilesLength > MAX_ALL_SMILES)
    tooBig(
      'items',
      'TOO_LONG',
      `The SMILES have ${smilesLength} characters in all.`,
      `Send at most ${MAX_ALL_SMILES} in one submission.`,
    );
}
