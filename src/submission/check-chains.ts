// Checks the chains of one item (spec, "Sequence inputs" and "Modification").
import { checkChainIds } from './check-chain-ids.ts';
import { checkComponents } from './check-components.ts';
import { checkLigand } from './check-ligand.ts';
import { checkModifications, checkSequence } from './check-polymer.ts';
import type { ItemIssues } from './issues.ts';
import type { scanSmiles } from './smiles.ts';
import type { Item } from './submission.ts';

/** @param scan - reads the syntax of a SMILES */
export function checkChains(item: Item, issues: ItemIssues, scan: typeof scanSmiles): void {
  if (item.chains.length === 0) {
    issues.wrong(
      'chains',
      'EMPTY_LIST',
      'The item has no chains.',
      'Give at least one protein, rna, dna or ligand.',
    );
  }
  for (const [c, chain] of item.chains.entries()) {
    const path = `chains.${c}.${chain.type}`;
    if (chain.type === 'ligand') {
      checkLigand(chain, path, issues, scan);
    } else {
      checkSequence(chain, path, issues);
      checkModifications(chain, path, issues);
    }
  }
  checkComponents(item, issues);
  checkChainIds(item, issues);
}
