// The store of the Batch side: batches, inputs, tasks, outputs, in SQLite. Every change of state
// is one transaction, so that a killed process leaves each task either before or after it.
import type { Database } from '../database.ts';
import { type Counts, type TaskState, taskStates } from './states.ts';

const TABLES = `
  CREATE TABLE IF NOT EXISTS batches (
    batch_id TEXT PRIMARY KEY, owner TEXT NOT NULL, submitted_at INTEGER NOT NULL, positions INTEGER NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0, broken_off INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS batches_by_owner ON batches (owner, submitted_at);
  CREATE TABLE IF NOT EXISTS inputs (
    batch_id TEXT NOT NULL, position INTEGER NOT NULL, request TEXT NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (batch_id, position)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tasks (
    task_id TEXT PRIMARY KEY, batch_id TEXT NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL,
    credits INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS tasks_by_number ON tasks (batch_id, number);
  CREATE INDEX IF NOT EXISTS tasks_by_state ON tasks (batch_id, state, number);
  CREATE TABLE IF NOT EXISTS outputs (
    task_id TEXT NOT NULL, name TEXT NOT NULL, gzipped BLOB NOT NULL, PRIMARY KEY (task_id, name)
  ) STRICT;
`;

export interface BatchRow {
  readonly batchId: string;
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly submittedAt: number;
  /** Length of the payload: task number = repeatIndex * positions + position. */
  readonly positions: number;
  readonly cancelled: boolean;
  readonly brokenOff: boolean;
}

export interface TaskRow {
  readonly taskId: string;
  readonly batchId: string;
  readonly number: number;
  readonly state: TaskState;
  /** JSON text: an object, or a string. */
  readonly error: string | null;
}

interface NewBatch {
  readonly batchId: string;
  readonly owner: string;
  readonly submittedAt: number;
  readonly brokenOff: boolean;
  readonly inputs: readonly { readonly request: string; readonly tokens: number }[];
  readonly tasks: readonly { readonly taskId: string; readonly credits: number }[];
}

/** An output of a finished task: `response`, or an artifact by its name; gzipped JSON. */
export interface Output {
  readonly name: string;
  readonly gzipped: Uint8Array;
}

type Row = Record<string, unknown>;

const batchRow = (row: Row): BatchRow => ({
  batchId: String(row.batch_id),
  owner: String(row.owner),
  submittedAt: Number(row.submitted_at),
  positions: Number(row.positions),
  cancelled: row.cancelled === 1,
  brokenOff: row.broken_off === 1,
});

function taskRow(row: Row): TaskRow {
  const { task_id, batch_id, number, error } = row;
  const state = taskStates.find((word) => word === row.state);
  if (state === undefined) throw new Error(`task ${String(task_id)} is in no known state`);
  return {
    taskId: String(task_id),
    batchId: String(batch_id),
    number: Number(number),
    state,
    error: typeof error === 'string' ? error : null,
  };
}

/** The tables of the Batch side. */
export interface BatchStore {
  /** Adds a batch with all its inputs and tasks, or nothing. */
  add(batch: NewBatch): void;
  batch(batchId: string): BatchRow | undefined;
  /** Every batch of every owner, oldest first. */
  batches(): BatchRow[];
  task(taskId: string): TaskRow | undefined;
  counts(batchId: string): Counts;
  /** Tasks from number `from` on, of one state when it is given. */
  page(batchId: string, from: number, limit: number, state?: TaskState): TaskRow[];
  nextQueued(batchId: string): TaskRow | undefined;
  running(batchId: string): TaskRow[];
  input(batchId: string, position: number): { request: string; tokens: number };
  /** Marks a queued task as running, or a running one as run again. */
  start(taskId: string): void;
  /**
   * Ends a running task, outputs and state together. A task that is not running is left alone.
   */
  finish(taskId: string, ending: { outputs: readonly Output[] } | { error: string }): void;
  output(taskId: string, name: string): Uint8Array | undefined;
  outputNames(taskId: string): string[];
  /** @returns whether the task was queued and is cancelled now */
  cancelTask(taskId: string): boolean;
  /**
   * Cancels what is queued; the batch counts as cancelled when something was.
   *
   * @returns how many
   */
  cancelQueued(batchId: string): number;
  /** Times of the owner's submissions after `after`, oldest first. */
  submissionsAfter(owner: string, after: number): number[];
  /** Credits of the owner's tasks submitted since `since`; cancelled ones are free. */
  spentSince(owner: string, since: number): number;
  /**
   * Forgets outputs of batches submitted at `until` or before, and inputs of those that have
   * ended; ids and states stay.
   */
  dropUntil(until: number): void;
  clear(): void;
}

/** Opens the tables in `database`, making them when they are missing. */
export function openBatchStore(database: Database): BatchStore {
  database.exec(TABLES);
  const sql = {
    addBatch: database.prepare(
      'INSERT INTO batches (batch_id, owner, submitted_at, positions, broken_off) VALUES (?, ?, ?, ?, ?)',
    ),
    addInput: database.prepare('INSERT INTO inputs VALUES (?, ?, ?, ?)'),
    addTask: database.prepare(
      "INSERT INTO tasks (task_id, batch_id, number, state, credits) VALUES (?, ?, ?, 'queued', ?)",
    ),
    batch: database.prepare('SELECT * FROM batches WHERE batch_id = ?'),
    batches: database.prepare('SELECT * FROM batches ORDER BY submitted_at, rowid'),
    task: database.prepare('SELECT * FROM tasks WHERE task_id = ?'),
    counts: database.prepare('SELECT state, COUNT(*) AS count FROM tasks WHERE batch_id = ? GROUP BY state'),
    page: database.prepare('SELECT * FROM tasks WHERE batch_id = ? AND number >= ? ORDER BY number LIMIT ?'),
    selectPage: database.prepare(
      'SELECT * FROM tasks WHERE batch_id = ? AND number >= ? AND state = ? ORDER BY number LIMIT ?',
    ),
    inState: database.prepare('SELECT * FROM tasks WHERE batch_id = ? AND state = ? ORDER BY number LIMIT ?'),
    input: database.prepare('SELECT request, tokens FROM inputs WHERE batch_id = ? AND position = ?'),
    start: database.prepare(
      "UPDATE tasks SET state = 'in_progress', attempts = attempts + 1 WHERE task_id = ? AND state IN ('queued', 'in_progress')",
    ),
    finish: database.prepare(
      "UPDATE tasks SET state = ?, error = ? WHERE task_id = ? AND state = 'in_progress'",
    ),
    addOutput: database.prepare('INSERT INTO outputs VALUES (?, ?, ?)'),
    output: database.prepare('SELECT gzipped FROM outputs WHERE task_id = ? AND name = ?'),
    outputNames: database.prepare('SELECT name FROM outputs WHERE task_id = ? ORDER BY name'),
    cancelTask: database.prepare(
      "UPDATE tasks SET state = 'cancelled' WHERE task_id = ? AND state = 'queued'",
    ),
    cancelQueued: database.prepare(
      "UPDATE tasks SET state = 'cancelled' WHERE batch_id = ? AND state = 'queued'",
    ),
    cancelBatch: database.prepare('UPDATE batches SET cancelled = 1 WHERE batch_id = ?'),
    submissions: database.prepare(
      'SELECT submitted_at FROM batches WHERE owner = ? AND submitted_at > ? ORDER BY submitted_at',
    ),
    spent: database.prepare(
      `SELECT COALESCE(SUM(credits), 0) AS spent FROM batches JOIN tasks USING (batch_id)
       WHERE owner = ? AND submitted_at >= ? AND state <> 'cancelled'`,
    ),
    dropOutputs: database.prepare(
      `DELETE FROM outputs WHERE task_id IN
       (SELECT task_id FROM tasks JOIN batches USING (batch_id) WHERE submitted_at <= ?)`,
    ),
    dropInputs: database.prepare(
      `DELETE FROM inputs WHERE batch_id IN (SELECT batch_id FROM batches WHERE submitted_at <= ?)
       AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.batch_id = inputs.batch_id AND state IN ('queued', 'in_progress'))`,
    ),
  };

  function atOnce<T>(work: () => T): T {
    database.exec('BEGIN IMMEDIATE');
    try {
      const value = work();
      database.exec('COMMIT');
      return value;
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    add({ batchId, owner, submittedAt, brokenOff, inputs, tasks }) {
      atOnce(() => {
        sql.addBatch.run(batchId, owner, submittedAt, inputs.length, brokenOff ? 1 : 0);
        for (const [position, { request, tokens }] of inputs.entries())
          sql.addInput.run(batchId, position, request, tokens);
        for (const [number, { taskId, credits }] of tasks.entries())
          sql.addTask.run(taskId, batchId, number, credits);
      });
    },
    batch(batchId) {
      const row = sql.batch.get(batchId);
      return row === undefined ? undefined : batchRow(row);
    },
    batches: () => sql.batches.all().map(batchRow),
    task(taskId) {
      const row = sql.task.get(taskId);
      return row === undefined ? undefined : taskRow(row);
    },
    counts(batchId) {
      return Object.fromEntries(
        sql.counts.all(batchId).map((row: Row) => [String(row.state), Number(row.count)]),
      );
    },
    page(batchId, from, limit, state) {
      const rows =
        state === undefined
          ? sql.page.all(batchId, from, limit)
          : sql.selectPage.all(batchId, from, state, limit);
      return rows.map(taskRow);
    },
    nextQueued(batchId) {
      const row = sql.inState.get(batchId, 'queued', 1);
      return row === undefined ? undefined : taskRow(row);
    },
    running: (batchId) => sql.inState.all(batchId, 'in_progress', -1).map(taskRow),
    input(batchId, position) {
      const row = sql.input.get(batchId, position);
      if (row === undefined) throw new Error(`batch ${batchId} has no input ${position}`);
      return { request: String(row.request), tokens: Number(row.tokens) };
    },
    start(taskId) {
      sql.start.run(taskId);
    },
    finish(taskId, ending) {
      atOnce(() => {
        const failed = 'error' in ending;
        const { changes } = sql.finish.run(failed ? 'failed' : 'done', failed ? ending.error : null, taskId);
        if (failed || changes === 0) return;
        for (const { name, gzipped } of ending.outputs) sql.addOutput.run(taskId, name, gzipped);
      });
    },
    output(taskId, name) {
      const blob = sql.output.get(taskId, name)?.gzipped;
      return blob instanceof Uint8Array ? blob : undefined;
    },
    outputNames: (taskId) => sql.outputNames.all(taskId).map((row: Row) => String(row.name)),
    cancelTask: (taskId) => sql.cancelTask.run(taskId).changes > 0,
    cancelQueued(batchId) {
      return atOnce(() => {
        const { changes } = sql.cancelQueued.run(batchId);
        if (changes > 0) sql.cancelBatch.run(batchId);
        return Number(changes);
      });
    },
    submissionsAfter: (owner, after) =>
      sql.submissions.all(owner, after).map((row: Row) => Number(row.submitted_at)),
    spentSince: (owner, since) => Number(sql.spent.get(owner, since)?.spent ?? 0),
    dropUntil(until) {
      atOnce(() => {
        sql.dropOutputs.run(until);
        sql.dropInputs.run(until);
      });
    },
    clear() {
      atOnce(() =>
        database.exec('DELETE FROM outputs; DELETE FROM tasks; DELETE FROM inputs; DELETE FROM batches'),
      );
    },
  };
}
