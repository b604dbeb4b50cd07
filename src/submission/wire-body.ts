// The body of Submit (spec, "Batch submit request" and below), the hash that identifies equal
// submissions, and the search for identical items.
import { hash } from 'node:crypto';
import type { ChainSummary } from './check.ts';
import type { Chain, Item, Submission } from './submission.ts';

const idOf = ({ ids }: Chain): string | readonly string[] | null => {
  if (ids === null || ids.length === 0) return null;
  return ids.length === 1 ? (ids[0] ?? null) : ids;
};

function wireChain(chain: Chain) {
  if (chain.type === 'ligand') {
    const ccd = chain.ccd?.length ? chain.ccd : null;
    return { type: chain.type, id: idOf(chain), smiles: chain.smiles, ccd };
  }
  const { type, sequence, modifications } = chain;
  return {
    type,
    id: idOf(chain),
    sequence,
    modifications: modifications.length === 0 ? null : modifications,
  };
}

const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

const wireInput = ({ chains, covalentBonds, pocket, distogramConditioning }: Item) => ({
  sequences: chains.map(wireChain),
  covalent_bonds: orNull(
    covalentBonds.map((bond) => ({
      chain_id1: bond.chainId1,
      res_idx1: bond.residueIndex1,
      atom_idx1: bond.atomIndex1,
      chain_id2: bond.chainId2,
      res_idx2: bond.residueIndex2,
      atom_idx2: bond.atomIndex2,
    })),
  ),
  pocket:
    pocket === null
      ? null
      : {
          binder_chain_id: pocket.binderChainId,
          contacts: pocket.contacts.map(({ chainId, residueIndex }) => [chainId, residueIndex]),
        },
  distogram_conditioning: orNull(
    distogramConditioning.map(({ chainId, distogram }) => ({ chain_id: chainId, distogram })),
  ),
});

const wireItem = (item: Item, model: string) => ({
  model,
  all_atom_input: wireInput(item),
  potential_sequence_of_concern: item.potentialSequenceOfConcern,
  include_pae: item.includePae,
  include_pair_chains_iptm: item.includePairChainsIptm,
  include_embeddings: item.includeEmbeddings,
});

export const wireBody = ({ items, repeat, model }: Submission) => ({
  endpoint: 'fold_max_accuracy',
  payload: items.map((item) => wireItem(item, model)),
  repeat,
});

/** SHA-256 (hexadecimal) of the JSON of plain data. */
const jsonHash = (value: unknown): string => hash('sha256', JSON.stringify(value));

const itemHash = (item: Item): string => jsonHash(wireItem(item, ''));

/**
 * SHA-256 (hexadecimal) of a submission without its idempotency key: equal for inputs that differ
 * only in white space, case, explicit defaults or the order of keys.
 */
export const submissionHash = (submission: Submission): string =>
  jsonHash([submission.label, submission.items.map(({ name }) => name), wireBody(submission)]);

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
  function firstSame(index: number, item: Item): number {
    const key = itemHash(item);
    const first = firstByHash.get(key) ?? index;
    firstByHash.set(key, first);
    return first;
  }
  /** @returns null for the first */
  return function find(index: number, item: Item, summaries: readonly ChainSummary[]): number | null {
    const likeness = likenessOf(item, summaries);
    const alike = firstAlike.get(likeness);
    firstAlike.set(likeness, alike === undefined ? { index, item } : null);
    if (alike === undefined) return null;
    if (alike !== null) firstSame(alike.index, alike.item);
    const first = firstSame(index, item);
    return first === index ? null : first;
  };
}
