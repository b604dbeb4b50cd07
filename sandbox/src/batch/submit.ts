// Answers Submit, from a read body to the `data`.
import { randomBytes, randomUUID } from 'node:crypto';
import { checkAccount } from './accounts.ts';
import type { BatchParts } from './lookup.ts';
import { Refusal } from './refusal.ts';
import { countTokens, type FoldItem, nameChains, type SubmitRequest } from './request/submit.ts';
import type { Caller } from './tokens.ts';

/** The input as the folder takes it: all but which repeat it is. */
function foldText(item: FoldItem): string {
  return JSON.stringify({
    model: item.model,
    input: nameChains(item.all_atom_input),
    includePae: item.include_pae,
    includePairChainsIptm: item.include_pair_chains_iptm,
    includeEmbeddings: item.include_embeddings,
  });
}

const hasLigand = ({ all_atom_input }: FoldItem): boolean =>
  all_atom_input.sequences.some(({ type }) => type === 'ligand');

/**
 * Single items have a name of their own, items of a larger batch are numbered (spec: `task_id`).
 */
function taskIds(batchId: string, total: number): string[] {
  if (total === 1) return [`task_${randomBytes(12).toString('hex')}`];
  return Array.from({ length: total }, (_, number) => `${batchId}-${String(number).padStart(5, '0')}`);
}

/**
 * Submit: stores the batch and queues it. Repeat is the outer loop, position in the payload the
 * inner one.
 */
export function submit(parts: BatchParts, caller: Caller, { payload, repeat }: SubmitRequest) {
  const { store, queue, folder, clock, limits, breakOff } = parts;
  const inputs = payload.map((item) => ({ item, tokens: countTokens(item) }));
  const total = payload.length * repeat;
  checkAccount(parts, caller, repeat * inputs.reduce((sum, { tokens }) => sum + tokens, 0));

  const batchId = randomUUID();
  const submittedAt = clock.now();
  const stopAfter = breakOff();
  const ids = taskIds(batchId, total);
  store.dropUntil(submittedAt - limits.retentionMs);
  store.add({
    batchId,
    owner: caller.owner,
    submittedAt,
    brokenOff: stopAfter !== undefined,
    inputs: inputs.map(({ item, tokens }) => ({ tokens, request: foldText(item) })),
    tasks: ids
      .slice(0, stopAfter)
      .map((taskId, number) => ({ taskId, credits: inputs[number % inputs.length]?.tokens ?? 0 })),
  });
  queue.added({ batchId, submittedAt });
  if (payload.some(hasLigand)) folder.warm();
  if (stopAfter !== undefined)
    throw new Refusal(
      500,
      'Submission failed; some items may already have been queued. Do not send it again blindly.',
    );

  const [taskId] = ids;
  return {
    message: `${total} ${total === 1 ? 'item' : 'items'} queued; follow the batch with List and its items with Status.`,
    batch_id: batchId,
    total_items: total,
    ...(total === 1 ? { task_id: taskId } : {}),
  };
}
