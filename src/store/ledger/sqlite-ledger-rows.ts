// Reads rows of the SQLite ledger; throws for a row of another shape.
import { z } from 'zod';
import {
  chainSummaries,
  type KeyEntry,
  type LedgerBatch,
  type LedgerItem,
  type TaskScores,
} from './ledger.ts';

const batchRow = z
  .object({
    batch_id: z.string(),
    label: z.string().nullable(),
    model: z.string(),
    submitted_at: z.number(),
    item_count: z.number(),
    repeat: z.number(),
    input_hash: z.string(),
    only_task_id: z.string().nullable(),
  })
  .transform(
    (row): LedgerBatch => ({
      batchId: row.batch_id,
      label: row.label,
      model: row.model,
      submittedAt: row.submitted_at,
      itemCount: row.item_count,
      repeat: row.repeat,
      inputHash: row.input_hash,
      onlyTaskId: row.only_task_id,
    }),
  );

const itemRow = z
  .object({ name: z.string().nullable(), chains: z.string() })
  .transform(
    ({ name, chains: text }): LedgerItem => ({ name, chains: chainSummaries.parse(JSON.parse(text)) }),
  );

const keyRow = z
  .object({
    request_hash: z.string(),
    state: z.enum(['pending', 'submitted', 'unknown']),
    batch_id: z.string().nullable(),
    upstream_request_id: z.string().nullable(),
    at: z.number(),
  })
  .transform((row): KeyEntry => {
    const common = { requestHash: row.request_hash, at: row.at };
    if (row.state === 'submitted' && row.batch_id !== null) {
      return { ...common, state: 'submitted', batchId: row.batch_id };
    }
    if (row.state === 'pending') return { ...common, state: 'pending' };
    return { ...common, state: 'unknown', upstreamRequestId: row.upstream_request_id };
  });

const scoreRow = z
  .object({ ptm: z.number().nullable(), iptm: z.number().nullable(), mean_plddt: z.number().nullable() })
  .transform(({ ptm, iptm, mean_plddt }): TaskScores => ({ ptm, iptm, meanPlddt: mean_plddt }));

export const readBatchRow = (row: unknown): LedgerBatch => batchRow.parse(row);
export const readItemRow = (row: unknown): LedgerItem => itemRow.parse(row);
export const readKeyRow = (row: unknown): KeyEntry => keyRow.parse(row);
export const readScoreRow = (row: unknown): TaskScores => scoreRow.parse(row);
