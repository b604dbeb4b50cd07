// The Batch half of the stand-in service: batches that are done at once or stay under way.
import { randomUUID } from 'node:crypto';

/** The facts of a batch that List and Status need. */
interface Batch {
  readonly total: number;
  readonly done: boolean;
}

const DAY = 86_400_000;
const TOKENS = 24;

/**
 * The scores of a task's result, by its number in the batch. An ipTM of 0 says that a single chain
 * has none.
 */
const taskScores = (number: number) => ({
  ptm: (number % 100) / 100,
  iptm: (((number * 7) % 100) + 1) / 100,
});

function resultJson(number: number): string {
  const list = <T>(make: (n: number) => T): T[] => Array.from({ length: TOKENS }, (_, n) => make(n));
  const { ptm, iptm } = taskScores(number);
  return JSON.stringify({
    complex: {
      id: `task ${number}`,
      sequence: list(() => 'GLY'),
      atom_positions: list((n) => [n * 3.8, (n % 7) * 1.5, (n % 5) * 1.25]),
      atom_elements: list(() => 'C'),
      atom_names: list(() => 'CA'),
      atom_hetero: list(() => false),
      token_to_atoms: list((n) => [n, n + 1]),
      chain_id: list(() => 0),
      plddt: list(() => 0.8),
      metadata: { entity_lookup: { '0': 'protein' }, chain_lookup: { '0': 'A' }, assembly_composition: null },
    },
    plddt: list(() => 0.8),
    ptm,
    interface_ptm: iptm,
    pae: null,
    pair_chains_iptm: null,
    output_embedding_sequence: null,
    output_embedding_pair_pooled: null,
    residue_index: null,
    entity_id: null,
    model: 'foldmodel2-2026-05-cutoff-2025',
    created: '2026-05-01T00:00:00Z',
    tokens_used: TOKENS,
    warning_messages: [],
  });
}

const enveloped = (data: object): string => JSON.stringify({ status: 'success', data, request_id: 'bench' });

/** Batches, empty at the start. */
export function openBatchAnswers() {
  const batches = new Map<string, Batch>();
  const times = () => ({
    expires_at: new Date(Date.now() + DAY).toISOString(),
    results_expire_at: new Date(Date.now() + 31 * DAY).toISOString(),
  });
  const findTask = (id: string): { batch: Batch; number: number } | undefined => {
    const batch = batches.get(id.slice(0, 36));
    return batch === undefined ? undefined : { batch, number: Number(id.slice(37) || '0') };
  };
  return {
    /** POST submit. @param done - whether its tasks are done at once */
    submit(body: { payload: readonly unknown[]; repeat?: number }, done: boolean): string {
      const id = randomUUID();
      const total = body.payload.length * (body.repeat ?? 1);
      batches.set(id, { total, done });
      return enveloped({
        message: 'queued',
        batch_id: id,
        total_items: total,
        ...(total === 1 ? { task_id: `${id}-00000` } : {}),
      });
    },
    /** POST list; undefined for an unknown batch. */
    list(body: {
      batch_id: string;
      include_responses?: boolean;
      limit?: number;
      cursor?: string | null;
    }): string | undefined {
      const batch = batches.get(body.batch_id);
      if (batch === undefined) return undefined;
      const limit = body.limit ?? 100;
      const from = Number(body.cursor ?? 0);
      const length = body.include_responses === true ? Math.max(0, Math.min(limit, batch.total - from)) : 0;
      const word = batch.done ? 'done' : 'in_progress';
      return enveloped({
        batch_id: body.batch_id,
        status: word,
        counts: { [word]: batch.total },
        items: Array.from({ length }, (_, n) => ({
          task_id: `${body.batch_id}-${String(from + n).padStart(5, '0')}`,
          status: word,
          ...(batch.done ? { response_available: true } : {}),
        })),
        cursor: length === limit && length > 0 ? String(from + length) : null,
        created_at: new Date().toISOString(),
        ...times(),
      });
    },
    /** POST status; undefined for an unknown task. @param base - where results are downloaded */
    status(body: { task_id: string }, base: string): string | undefined {
      const task = findTask(body.task_id);
      if (task === undefined) return undefined;
      return enveloped(
        task.batch.done
          ? {
              status: 'done',
              response: `${base}/downloads/${body.task_id}.json?signature=bench`,
              artifacts: {},
              ...times(),
            }
          : { status: 'in_progress', ...times() },
      );
    },
    /** The file behind a task's `response`. */
    result(taskId: string): string | undefined {
      const task = findTask(taskId);
      return task && resultJson(task.number);
    },
  };
}
