// The values of the Redis ledger as texts. Reading throws for a value of another shape.
import { z } from 'zod';
import {
  chainSummaries,
  type EarlierSubmission,
  type KeyEntry,
  type LedgerBatch,
  type LedgerItem,
  type TaskScores,
} from './ledger.ts';

const batch = z.object({
  batchId: z.string(),
  label: z.string().nullable(),
  model: z.string(),
  submittedAt: z.number(),
  itemCount: z.number(),
  repeat: z.number(),
  inputHash: z.string(),
  onlyTaskId: z.string().nullable(),
});

const item = z.object({ name: z.string().nullable(), chains: chainSummaries });

const score = z.number().nullable();
const scores = z.tuple([score, score, score]);

const keyFields = z.object({
  state: z.enum(['pending', 'submitted', 'unknown']),
  hash: z.string(),
  at: z.coerce.number(),
  batch: z.string().optional(),
  request: z.string().optional(),
});

const earlierFields = z.object({ batch: z.string(), at: z.coerce.number() });

/** Fields of a hash from the flat list that Redis answers; null for a hash that is not there. */
function fieldsOf(reply: unknown): Record<string, string> | null {
  const flat = z.array(z.string()).parse(reply);
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i] ?? ''] = flat[i + 1] ?? '';
  return flat.length === 0 ? null : fields;
}

export const writeBatch = (value: LedgerBatch): string => JSON.stringify(value);
export const readBatch = (text: string): LedgerBatch => batch.parse(JSON.parse(text));
export const writeItem = ({ name, chains }: LedgerItem): string => JSON.stringify({ name, chains });
export const readItem = (text: string): LedgerItem => item.parse(JSON.parse(text));
export const writeScores = ({ ptm, iptm, meanPlddt }: TaskScores): string =>
  JSON.stringify([ptm, iptm, meanPlddt]);
export function readScores(text: string): TaskScores {
  const [ptm, iptm, meanPlddt] = scores.parse(JSON.parse(text));
  return { ptm, iptm, meanPlddt };
}

/** @param reply - a hash of the key; empty when nothing stands there */
export function readKey(reply: unknown): KeyEntry | null {
  const fields = fieldsOf(reply);
  if (fields === null) return null;
  const { state, hash: requestHash, at, batch: batchId, request } = keyFields.parse(fields);
  if (state === 'submitted' && batchId !== undefined) return { requestHash, at, state, batchId };
  if (state === 'pending') return { requestHash, at, state };
  return { requestHash, at, state: 'unknown', upstreamRequestId: request ?? null };
}

/** @param reply - a hash of the input; empty when it was never submitted */
export function readEarlier(reply: unknown): EarlierSubmission | null {
  const fields = fieldsOf(reply);
  if (fields === null) return null;
  const { batch: batchId, at } = earlierFields.parse(fields);
  return { batchId: batchId === '' ? null : batchId, at };
}

/** @param reply - one step of SCAN: where it goes on, and keys */
export const readScan = (reply: unknown): [cursor: string, keys: string[]] =>
  z.tuple([z.string(), z.array(z.string())]).parse(reply);

/** Texts of a list that Redis answers; null where there is none. */
export const readTexts = (reply: unknown): (string | null)[] => z.array(z.string().nullable()).parse(reply);
export const readText = (reply: unknown): string | null => z.string().nullable().parse(reply);
export const readCount = (reply: unknown): number => z.number().parse(reply);
