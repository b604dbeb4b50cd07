// The body of Submit (spec, "Batch submit request" and below), and what identifies equal
// submissions and items.
import { hash } from 'node:crypto';
import type { Chain } from './chain.ts';
import type { Item, Submission } from './submission.ts';

const toWireId = ({ ids }: Chain): string | readonly string[] | null => {
  if (ids === null || ids.length === 0) return null;
  return ids.length === 1 ? (ids[0] ?? null) : ids;
};

function toWireChain(chain: Chain) {
  if (chain.type === 'ligand') {
    const ccd = chain.ccd?.length ? chain.ccd : null;
    return { type: chain.type, id: toWireId(chain), smiles: chain.smiles, ccd };
  }
  const { type, sequence, modifications } = chain;
  return {
    type,
    id: toWireId(chain),
    sequence,
    modifications: modifications.length === 0 ? null : modifications,
  };
}

const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

const toWireInput = ({ chains, covalentBonds, pocket, distogramConditioning }: Item) => ({
  sequences: chains.map(toWireChain),
  covalent_bonds: orNull(
    covalentBonds.map(({ ends: [one, two] }) => ({
      chain_id1: one.chainId,
      res_idx1: one.residueIndex,
      atom_idx1: one.atomIndex,
      chain_id2: two.chainId,
      res_idx2: two.residueIndex,
      atom_idx2: two.atomIndex,
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

const toWireItem = (item: Item, model: string) => ({
  model,
  all_atom_input: toWireInput(item),
  potential_sequence_of_concern: item.potentialSequenceOfConcern,
  include_pae: item.includePae,
  include_pair_chains_iptm: item.includePairChainsIptm,
  include_embeddings: item.includeEmbeddings,
});

export const wireBody = ({ items, repeat, model }: Submission) => ({
  endpoint: 'fold_max_accuracy',
  payload: items.map((item) => toWireItem(item, model)),
  repeat,
});

/** The input of an item as text: equal for items that are folded alike. */
export const itemText = (item: Item): string => JSON.stringify(toWireItem(item, ''));

/**
 * SHA-256 (hexadecimal) of a submission without its idempotency key: equal for inputs that differ
 * only in white space, case, explicit defaults or the order of keys.
 */
export const submissionHash = (submission: Submission): string =>
  hash(
    'sha256',
    JSON.stringify([submission.label, submission.items.map(({ name }) => name), wireBody(submission)]),
  );
