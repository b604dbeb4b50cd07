// The ledger in SQLite: one file (or memory), shared by any number of processes on a machine,
// intact after a crash.
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { createSqliteStore, type SqliteStore } from '../sqlite-file.ts';
import { UnwritableDiskError } from '../unusable-store.ts';
import { createLedger, type LedgerStore } from './create-ledger.ts';
import {
  earlierSubmission,
  keyEntry,
  type Ledger,
  type LedgerBatch,
  type LedgerItem,
  ledgerBatch,
  ledgerChains,
  RETENTION_MS,
  taskScores,
} from './ledger.ts';
import { type ExpectedMark, MAX_AHEAD_MS, type MarkStore } from './mark.ts';
import type { LedgerSecrets } from './principals.ts';
import { openReadOnlyTables, openTables } from './sqlite-tables.ts';

const PRUNE_INTERVAL_MS = 3_600_000;
/** Rows of a table that one transaction deletes: 500,000 held the event loop for 2 to 7 seconds. */
const PRUNE_ROWS = 64;
const PRUNE_PAUSE_MS = 20;
/**
 * How much more is past its time at most, each time the ledger is pruned: the clock may be wrong.
 */
const MAX_PRUNE_STEP_MS = 24 * 3_600_000;
/** All that belongs to a principal. */
const PRINCIPAL_TABLES = ['batch', 'item', 'idempotency', 'unknown_outcome', 'score'];

/** The columns under the names of the records. */
const BATCH =
  'batch_id AS batchId, label, model, submitted_at AS submittedAt, item_count AS itemCount, repeat, ' +
  'input_hash AS inputHash, only_task_id AS onlyTaskId';
const KEY =
  'request_hash AS requestHash, state, at, batch_id AS batchId, upstream_request_id AS upstreamRequestId';

const markRow = z.object({ text: z.string().nullable(), newest: z.number() });
const prunedRow = z.object({ prunedTo: z.number().nullable() });
const countRow = z.object({ total: z.number() });
const sizeRow = z.object({ used: z.number() });
const itemRow = z
  .object({ name: z.string().nullable(), chains: z.string() })
  .transform(({ name, chains }): LedgerItem => ({ name, chains: ledgerChains.parse(JSON.parse(chains)) }));
const scoreRow = z
  .looseObject({ chainPairs: z.string() })
  .transform((row) => taskScores.parse({ ...row, chainPairs: JSON.parse(row.chainPairs) }));

/** Device and inode of a file; undefined for one in memory, or that is not there. */
function fileIdentity(file: string): string | undefined {
  const stat = file === ':memory:' ? undefined : statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

function createMarkStore(sql: SqliteStore, now: () => number): MarkStore {
  return {
    readMark: async () => ({ ...markRow.parse(sql.get('SELECT text, newest FROM mark')), now: now() }),
    replaceMark: (expected, next, resets) =>
      sql.write(() => {
        const newest = resets ? '?' : 'max(newest, ?)';
        return (
          sql.run(`UPDATE mark SET text = ?, newest = ${newest} WHERE text IS ?`, next, now(), expected) === 1
        );
      }),
  };
}

/**
 * Deletes what is past its time, a few rows at a time. A clock that runs ahead moves the limit by a
 * day, not by weeks.
 *
 * @returns deletes for as long as there is something; once an hour
 */
function createPruner(sql: SqliteStore, now: () => number, signal: AbortSignal): () => Promise<void> {
  let prunedAt = Number.NEGATIVE_INFINITY;

  const moveLimit = (): number => {
    const { prunedTo } = prunedRow.parse(sql.get('SELECT pruned_to AS prunedTo FROM mark'));
    const limit = now() - RETENTION_MS;
    const next = prunedTo === null ? limit : Math.min(limit, prunedTo + MAX_PRUNE_STEP_MS);
    sql.run('UPDATE mark SET pruned_to = ?', next);
    return next;
  };
  const deleteSome = (table: string, columns: string, expired: string, limit: number): number =>
    sql.run(
      `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${expired} LIMIT ${PRUNE_ROWS})`,
      limit,
    );
  /** @returns whether there may be more */
  const pruneSome = (limit: number): boolean => {
    const deleted = [
      deleteSome(
        'item',
        'principal, batch_id, input_index',
        'batch JOIN item USING (principal, batch_id) WHERE submitted_at < ? ORDER BY submitted_at',
        limit,
      ),
      // A batch is deleted when none of its items is left.
      deleteSome(
        'batch',
        'principal, batch_id',
        'batch WHERE submitted_at < ? AND NOT EXISTS (SELECT 1 FROM item ' +
          'WHERE item.principal = batch.principal AND item.batch_id = batch.batch_id) ORDER BY submitted_at',
        limit,
      ),
      deleteSome('idempotency', 'principal, key', 'idempotency WHERE at < ?', limit),
      deleteSome('unknown_outcome', 'rowid', 'unknown_outcome WHERE at < ?', limit),
    ];
    return deleted.includes(PRUNE_ROWS);
  };

  return async () => {
    if (now() - prunedAt < PRUNE_INTERVAL_MS) return;
    prunedAt = now();
    let limit: number | undefined;
    const step = () => {
      limit ??= moveLimit();
      return pruneSome(limit);
    };
    try {
      while (await sql.write(step)) await sleep(PRUNE_PAUSE_MS, undefined, { signal, ref: false });
    } catch {
      // It is tried again in an hour.
    }
  };
}

/**
 * Opens the ledger in a file. Where its disk is full or read-only, what the file holds can be read,
 * and everything else fails.
 *
 * @param file - a path, or ':memory:'
 * @param now - milliseconds since the epoch
 */
export function openSqliteLedger(file: string, secrets: LedgerSecrets, now: () => number): Ledger {
  try {
    return createLedger(createLedgerStore(openTables(file), file, now), secrets);
  } catch (error) {
    if (!(error instanceof UnwritableDiskError)) throw error;
    const fail = () => Promise.reject(error);
    const writes = { claim: fail, renew: fail, release: fail, record: fail, recordUnknown: fail };
    const others = { check: fail, accept: fail, rename: fail, saveScores: fail };
    const readable = createLedger(createLedgerStore(openReadOnlyTables(file), file, now), secrets);
    return { ...readable, ...writes, ...others };
  }
}

function createLedgerStore(database: DatabaseSyncInstance, file: string, now: () => number): LedgerStore {
  const identity = fileIdentity(file);
  const isReplaced = (): boolean => fileIdentity(file) !== identity;
  const sql = createSqliteStore(database);
  const closing = new AbortController();
  const prune = createPruner(sql, now, closing.signal);
  void prune();

  const isAsExpected = ({ text, leastNewest }: ExpectedMark): boolean => {
    const stored = markRow.parse(sql.get('SELECT text, newest FROM mark'));
    const isInTime = stored.newest >= leastNewest && stored.newest <= now() + MAX_AHEAD_MS;
    return !isReplaced() && stored.text === text && isInTime;
  };
  /** Writes in one transaction. @returns the time, which is then the newest of the mark */
  const writeTimed = (work: (at: number) => void): number => {
    const at = now();
    sql.run('UPDATE mark SET newest = max(newest, ?)', at);
    work(at);
    return at;
  };

  /** Spends a key. One whose claim was lost comes back with the hash of the input. */
  function endKey(
    principal: string,
    key: string,
    inputHash: string,
    end: { state: 'submitted' | 'unknown'; batchId: string | null; requestId: string | null; at: number },
  ): void {
    sql.run(
      `INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET state = excluded.state, batch_id = excluded.batch_id,
         upstream_request_id = excluded.upstream_request_id`,
      ...[principal, key, inputHash, end.state, end.batchId, end.requestId, end.at],
    );
  }

  const toBatch = (row: unknown): LedgerBatch | null => (row === undefined ? null : ledgerBatch.parse(row));

  return {
    ...createMarkStore(sql, now),
    isReplaced,
    openReplacement() {
      const other = createSqliteStore(openTables(file));
      return { ...createMarkStore(other, now), close: other.close };
    },
    warnings: async () => [],
    claim(principal, key, requestHash, expected) {
      void prune();
      return sql.write(() => {
        const row = sql.get(`SELECT ${KEY} FROM idempotency WHERE principal = ? AND key = ?`, principal, key);
        if (row !== undefined) return keyEntry.parse({ ...Object(row), now: now() });
        if (!isAsExpected(expected)) return 'unexpected mark';
        return writeTimed((at) =>
          sql.run(
            `INSERT INTO idempotency (principal, key, request_hash, state, at) VALUES (?, ?, ?, 'pending', ?)`,
            ...[principal, key, requestHash, at],
          ),
        );
      });
    },
    async renew(principal, key) {
      await sql.write(() =>
        sql.run(
          `UPDATE idempotency SET at = ? WHERE principal = ? AND key = ? AND state = 'pending'`,
          ...[now(), principal, key],
        ),
      );
    },
    async release(principal, key) {
      await sql.write(() =>
        sql.run(
          `DELETE FROM idempotency WHERE principal = ? AND key = ? AND state = 'pending'`,
          ...[principal, key],
        ),
      );
    },
    record(principal, key, batch, items) {
      void prune();
      return sql.write(() =>
        writeTimed((at) => {
          const { batchId, label, model, submittedAt, itemCount, repeat, inputHash, onlyTaskId } = batch;
          sql.run(
            'INSERT OR REPLACE INTO batch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
            ...[principal, batchId, label, model, submittedAt, itemCount, repeat, inputHash, onlyTaskId],
          );
          for (const [index, { name, chains }] of items.entries())
            sql.run(
              'INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?)',
              ...[principal, batchId, index, name, JSON.stringify(chains)],
            );
          if (key !== null)
            endKey(principal, key, inputHash, { state: 'submitted', batchId, requestId: null, at });
        }),
      );
    },
    recordUnknown(principal, key, { inputHash, upstreamRequestId: requestId }) {
      return sql.write(() =>
        writeTimed((at) => {
          sql.run('INSERT INTO unknown_outcome VALUES (?, ?, ?, ?)', principal, inputHash, requestId, at);
          if (key !== null)
            endKey(principal, key, inputHash, { state: 'unknown', batchId: null, requestId, at });
        }),
      );
    },
    async earlier(principal, inputHash) {
      const row = sql.get(
        `SELECT batch_id AS batchId, submitted_at AS at FROM batch WHERE principal = ?1 AND input_hash = ?2
         UNION ALL SELECT NULL, at FROM unknown_outcome WHERE principal = ?1 AND input_hash = ?2
         ORDER BY at DESC LIMIT 1`,
        ...[principal, inputHash],
      );
      return row === undefined ? null : earlierSubmission.parse(row);
    },
    batch: async (principal, batchId) =>
      toBatch(sql.get(`SELECT ${BATCH} FROM batch WHERE principal = ? AND batch_id = ?`, principal, batchId)),
    batchOfOnlyTask: async (principal, taskId) =>
      toBatch(
        sql.get(`SELECT ${BATCH} FROM batch WHERE principal = ? AND only_task_id = ?`, principal, taskId),
      ),
    async items(principal, batchId, inputIndexes) {
      const found = new Map<number, LedgerItem>();
      for (const index of inputIndexes) {
        const row = sql.get(
          'SELECT name, chains FROM item WHERE principal = ? AND batch_id = ? AND input_index = ?',
          ...[principal, batchId, index],
        );
        if (row !== undefined) found.set(index, itemRow.parse(row));
      }
      return found;
    },
    async batches(principal, { first, after }) {
      const { total } = countRow.parse(
        sql.get('SELECT count(*) AS total FROM batch WHERE principal = ?', principal),
      );
      const from = after ?? { submittedAt: Number.MAX_SAFE_INTEGER, batchId: '' };
      const rows = sql.all(
        `SELECT ${BATCH} FROM batch WHERE principal = ? AND (submitted_at, batch_id) < (?, ?)
         ORDER BY submitted_at DESC, batch_id DESC LIMIT ?`,
        ...[principal, from.submittedAt, from.batchId, first],
      );
      return { total, batches: rows.map((row) => ledgerBatch.parse(row)) };
    },
    async scores(principal, taskIds) {
      const found = taskIds.flatMap((id) => {
        const row = sql.get(
          `SELECT ptm, iptm, mean_plddt AS meanPlddt, chain_pairs AS chainPairs FROM score
           WHERE principal = ? AND task_id = ?`,
          ...[principal, id],
        );
        return row === undefined ? [] : [[id, scoreRow.parse(row)] as const];
      });
      return new Map(found);
    },
    async saveScores(principal, scores) {
      await sql.write(() => {
        for (const [id, { ptm, iptm, meanPlddt, chainPairs }] of scores)
          sql.run(
            'INSERT OR REPLACE INTO score VALUES (?, ?, ?, ?, ?, ?)',
            ...[principal, id, ptm, iptm, meanPlddt, JSON.stringify(chainPairs)],
          );
      });
    },
    async rename(from, to) {
      await sql.write(() => {
        for (const table of PRINCIPAL_TABLES)
          sql.run(`UPDATE OR IGNORE ${table} SET principal = ? WHERE principal = ?`, to, from);
      });
    },
    async usage() {
      const { used } = sizeRow.parse(
        sql.get('SELECT page_count * page_size AS used FROM pragma_page_count(), pragma_page_size()'),
      );
      if (file === ':memory:') return { usedBytes: used, limitBytes: null, evicts: false };
      const disk = await statfs(file);
      return { usedBytes: used, limitBytes: used + disk.bavail * disk.bsize, evicts: false };
    },
    async close() {
      closing.abort();
      sql.close();
    },
  };
}
