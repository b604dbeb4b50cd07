// The body of Submit (spec, "Batch submit request" and below), the hash that identifies equal
// submissions, and the search for identical items.
import { createHash } from 'node:crypto';
import type { ChainSummary } from './check.ts';
import { type Chain, type Item, type Steps, type Submission, takeSteps } from './submission.ts';

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

/** List entries written in one step. */
const CHUNK = 4096;

/** Characters hashed in one step. */
const BUFFERED = 2 ** 16;

/** What one piece of text may hold: characters, and so many for each number, null or boolean. */
const ROOM = 2 ** 18;
const ROOM_OF_VALUE = 4;

/** What is left of the room behind plain data; negative where it holds more. */
function roomBehind(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room - ROOM_OF_VALUE;
  let left = room - 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    left = roomBehind(member, left);
    if (left < 0) break;
  }
  return left;
}

/**
 * The text of JSON.stringify for plain data, in pieces: long lists in parts, so that no step takes
 * long. What is small is one piece: most submissions are.
 */
function* jsonPieces(value: unknown): Generator<string> {
  if (roomBehind(value, ROOM) >= 0) yield JSON.stringify(value);
  else if (typeof value === 'string' && value.length > BUFFERED && /^[A-Za-z]*$/.test(value)) {
    yield '"';
    for (let at = 0; at < value.length; at += BUFFERED) yield value.slice(at, at + BUFFERED);
    yield '"';
  } else if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    yield '[';
    // All entries of a list are of one kind.
    if (typeof value[0] !== 'object') {
      for (let at = 0; at < value.length; at += CHUNK)
        yield (at > 0 ? ',' : '') + JSON.stringify(value.slice(at, at + CHUNK)).slice(1, -1);
    } else {
      for (const [k, entry] of value.entries()) {
        if (k > 0) yield ',';
        yield* jsonPieces(entry);
      }
    }
    yield ']';
  } else {
    let first = true;
    yield '{';
    for (const [key, member] of Object.entries(value)) {
      yield `${first ? '' : ','}${JSON.stringify(key)}:`;
      first = false;
      yield* jsonPieces(member);
    }
    yield '}';
  }
}

/** SHA-256 (hexadecimal) of the JSON of plain data. */
function* jsonHash(value: unknown): Steps<string> {
  const hash = createHash('sha256');
  let text = '';
  for (const piece of jsonPieces(value)) {
    text += piece;
    if (text.length < BUFFERED) continue;
    hash.update(text);
    text = '';
    yield;
  }
  return hash.update(text).digest('hex');
}

const itemHash = (item: Item): Steps<string> => jsonHash(wireItem(item, ''));

/**
 * SHA-256 (hexadecimal) of a submission without its idempotency key: equal for inputs that differ
 * only in white space, case, explicit defaults or the order of keys.
 */
export const submissionHash = (submission: Submission, signal?: AbortSignal): Promise<string> =>
  takeSteps(
    jsonHash([submission.label, submission.items.map(({ name }) => name), wireBody(submission)]),
    signal,
  );

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
