// The ledger in SQLite: one file (or memory), shared by any number of processes on a machine,
// intact after a crash.
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { z } from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { createGroupCommit, inTransaction, isDiskError } from '../sqlite-file.ts';
import { UnwritableDiskError } from '../unusable-store.ts';
import {
  chainSummaries,
  earlierSubmission,
  keyEntry,
  type Ledger,
  type LedgerBatch,
  type LedgerItem,
  ledgerBatch,
  RETENTION_MS,
  taskScores,
} from './ledger.ts';
import {
  claimAfterCheck,
  createMarkCheck,
  type LedgerSecrets,
  MAX_AHEAD_MS,
  type MarkStore,
  replacedFileError,
} from './mark.ts';
import { openReadOnlyTables, openTables } from './sqlite-tables.ts';

/** How often it is looked for what is past its time. */
const PRUNE_EVERY_MS = 3_600_000;
/** Rows of a table that one write deletes at most: 500,000 held the event loop for 2 to 7 seconds. */
const PRUNED_AT_ONCE = 64;
/** From one such write to the next, while there are more. */
const PRUNE_PAUSE_MS = 20;
/** How much more is past its time at most, each time it is looked for: the clock may be wrong. */
const MAX_PRUNE_STEP_MS = 24 * 3_600_000;
/** All that belongs to a principal. */
const PRINCIPAL_TABLES = ['batch', 'item', 'idempotency', 'unknown_outcome', 'score'];

/** The columns under the names of the records. */
const BATCH =
  'batch_id AS batchId, label, model, submitted_at AS submittedAt, item_count AS itemCount, repeat, ' +
  'input_hash AS inputHash, only_task_id AS onlyTaskId';
const KEY =
  'request_hash AS requestHash, state, at, batch_id AS batchId, upstream_request_id AS upstreamRequestId';

const prunedRow = z.object({ prunedTo: z.number().nullable() });
const countRow = z.object({ total: z.number() });
const sizeRow = z.object({ used: z.number() });
const markRow = z.object({ text: z.string().nullable(), newest: z.number() });
const itemRow = z
  .object({ name: z.string().nullable(), chains: z.string() })
  .transform(({ name, chains }): LedgerItem => ({ name, chains: chainSummaries.parse(JSON.parse(chains)) }));

/** Device and inode of a file; undefined for one in memory, or that is not there. */
function fileIdentity(file: string): string | undefined {
  const stat = file === ':memory:' ? undefined : statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

function openMarkStore(database: DatabaseSyncInstance, now: () => number) {
  const select = database.prepare('SELECT text, newest FROM mark');
  const update = database.prepare('UPDATE mark SET text = ?, newest = max(newest, ?) WHERE text IS ?');
  const reset = database.prepare('UPDATE mark SET text = ?, newest = ? WHERE text IS ?');
  const selectSealed = database.prepare('SELECT sealed FROM sealed_key');
  return {
    async read() {
      return { ...markRow.parse(select.get()), now: now() };
    },
    async replace(expected, next, resets) {
      return inTransaction(
        database,
        () => (resets ? reset : update).run(next, now(), expected).changes === 1,
      );
    },
    async sealedKey() {
      const row = selectSealed.get();
      return row === undefined ? null : String(row.sealed);
    },
    async deleteSealedKey() {
      database.exec('DELETE FROM sealed_key');
    },
  } satisfies MarkStore;
}

/**
 * Opens the ledger in a file. Where its disk is full or read-only, what the file holds can be read, and
 * everything else fails.
 *
 * @param file - a path, or ':memory:'
 * @param now - milliseconds since the epoch
 */
export function openSqliteLedger(file: string, secrets: LedgerSecrets, now: () => number): Ledger {
  try {
    return createSqliteLedger(openTables(file), file, secrets, now);
  } catch (error) {
    if (!(error instanceof UnwritableDiskError)) throw error;
    const fail = () => Promise.reject(error);
    const writes = { claim: fail, renew: fail, release: fail, record: fail, recordUnknown: fail };
    const others = { check: fail, accept: fail, rename: fail, saveScores: fail };
    return { ...createSqliteLedger(openReadOnlyTables(file), file, secrets, now), ...writes, ...others };
  }
}

function createSqliteLedger(
  database: DatabaseSyncInstance,
  file: string,
  secrets: LedgerSecrets,
  now: () => number,
): Ledger {
  const identity = fileIdentity(file);
  const marks = openMarkStore(database, now);
  const mark = createMarkCheck(secrets);
  const statement = (sql: string) => database.prepare(sql);
  const selectKey = statement(`SELECT ${KEY} FROM idempotency WHERE principal = ? AND key = ?`);
  const insertKey = statement(
    'INSERT INTO idempotency (principal, key, request_hash, state, at) ' + "VALUES (?, ?, ?, 'pending', ?)",
  );
  const renewPending = statement(
    "UPDATE idempotency SET at = ? WHERE principal = ? AND key = ? AND state = 'pending'",
  );
  const deletePending = statement(
    "DELETE FROM idempotency WHERE principal = ? AND key = ? AND state = 'pending'",
  );
  // A key whose claim was lost comes back with the hash of the input, and stays spent.
  const endKey = statement(
    `INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = excluded.state, batch_id = excluded.batch_id,
       upstream_request_id = excluded.upstream_request_id`,
  );
  const insertUnknown = statement('INSERT INTO unknown_outcome VALUES (?, ?, ?, ?)');
  const insertBatch = statement(
    'INSERT OR REPLACE INTO batch (principal, batch_id, label, model, submitted_at, item_count, repeat, ' +
      'input_hash, only_task_id) VALUES (:principal, :batchId, :label, :model, :submittedAt, :itemCount, ' +
      ':repeat, :inputHash, :onlyTaskId)',
  );
  const insertItem = statement('INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?)');
  const selectBatch = statement(`SELECT ${BATCH} FROM batch WHERE principal = ? AND batch_id = ?`);
  const selectOnlyTask = statement(`SELECT ${BATCH} FROM batch WHERE principal = ? AND only_task_id = ?`);
  const selectItem = statement('SELECT * FROM item WHERE principal = ? AND batch_id = ? AND input_index = ?');
  const countBatches = statement('SELECT count(*) AS total FROM batch WHERE principal = ?');
  const selectBatches = statement(
    `SELECT ${BATCH} FROM batch WHERE principal = ? AND (submitted_at, batch_id) < (?, ?)
     ORDER BY submitted_at DESC, batch_id DESC LIMIT ?`,
  );
  const selectEarlier = statement(
    `SELECT batch_id AS batchId, submitted_at AS at FROM batch WHERE principal = ?1 AND input_hash = ?2
     UNION ALL SELECT NULL, at FROM unknown_outcome WHERE principal = ?1 AND input_hash = ?2
     ORDER BY at DESC LIMIT 1`,
  );
  const selectScore = statement(
    'SELECT ptm, iptm, mean_plddt AS meanPlddt FROM score WHERE principal = ? AND task_id = ?',
  );
  const selectMark = statement('SELECT text, newest FROM mark');
  const touchMark = statement('UPDATE mark SET newest = max(newest, ?)');
  const selectSize = statement(
    'SELECT page_count * page_size AS used FROM pragma_page_count(), pragma_page_size()',
  );
  const selectAny = statement(
    `SELECT ${PRINCIPAL_TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE principal = ?1)`).join(' OR ')} AS found`,
  );
  const renames = PRINCIPAL_TABLES.map((table) =>
    statement(`UPDATE OR IGNORE ${table} SET principal = ? WHERE principal = ?`),
  );
  const selectPruned = statement('SELECT pruned_to AS prunedTo FROM mark');
  const updatePruned = statement('UPDATE mark SET pruned_to = ?');
  const insertScore = statement('INSERT OR REPLACE INTO score VALUES (?, ?, ?, ?, ?)');

  const expired = (table: string, columns: string, found = `${table} WHERE at < ?`) =>
    statement(
      `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${found} LIMIT ${PRUNED_AT_ONCE})`,
    );
  // Oldest first. A batch is deleted when none of its items is left.
  const deletions = [
    expired(
      'item',
      'principal, batch_id, input_index',
      'batch JOIN item USING (principal, batch_id) WHERE submitted_at < ? ORDER BY submitted_at',
    ),
    expired(
      'batch',
      'principal, batch_id',
      'batch WHERE submitted_at < ? AND NOT EXISTS (SELECT 1 FROM item ' +
        'WHERE item.principal = batch.principal AND item.batch_id = batch.batch_id) ORDER BY submitted_at',
    ),
    expired('idempotency', 'principal, key'),
    expired('unknown_outcome', 'rowid'),
  ];
  const { write, close } = createGroupCommit(database);
  let prunedAt = Number.NEGATIVE_INFINITY;
  let next: NodeJS.Timeout | undefined;
  /** What was written before it is deleted. A clock that runs ahead moves it by a day, not by weeks. */
  let pruneLimit = 0;
  const movePruneLimit = (): void => {
    const { prunedTo } = prunedRow.parse(selectPruned.get());
    const limit = now() - RETENTION_MS;
    pruneLimit = prunedTo === null ? limit : Math.min(limit, prunedTo + MAX_PRUNE_STEP_MS);
    updatePruned.run(pruneLimit);
  };
  const pruneSome = (): void => {
    const limit = pruneLimit;
    const most = Math.max(...deletions.map((deletion) => Number(deletion.run(limit).changes)));
    clearTimeout(next);
    // What cannot be deleted now waits for the next hour.
    const goOn = () => void write(pruneSome).catch(() => undefined);
    if (most === PRUNED_AT_ONCE) next = setTimeout(goOn, PRUNE_PAUSE_MS).unref();
  };
  const prune = (): void => {
    if (now() - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = now();
    movePruneLimit();
    pruneSome();
  };
  try {
    inTransaction(database, prune);
  } catch (error) {
    // A disk that takes nothing is no reason not to read.
    if (!isDiskError(error)) throw error;
  }

  /** Whether the ledger is as this gateway knows it: else a free key may have been spent. */
  const isAsKnown = (): boolean => {
    const { text, newest } = markRow.parse(selectMark.get());
    const { expected } = mark;
    return (
      fileIdentity(file) === identity &&
      text === expected.text &&
      newest >= expected.leastNewest &&
      newest <= now() + MAX_AHEAD_MS
    );
  };
  const touch = (): number => {
    const at = now();
    touchMark.run(at);
    return at;
  };
  /** Writes, and remembers when. */
  async function writeTimed(work: (at: number) => void): Promise<void> {
    const at = await write(() => {
      const time = touch();
      work(time);
      return time;
    });
    mark.wrote(at);
  }
  async function tryClaim(principal: string, key: string, requestHash: string) {
    const result = await write(() => {
      prune();
      const row = selectKey.get(principal, key);
      if (row !== undefined) return keyEntry.parse({ ...row, now: now() });
      if (!isAsKnown()) return 'not as known';
      const at = touch();
      insertKey.run(principal, key, requestHash, at);
      return at;
    });
    if (typeof result !== 'number') return result;
    mark.wrote(result);
    return null;
  }

  async function check(): Promise<void> {
    if (fileIdentity(file) === identity) return mark.check(marks);
    // Gateways that start on the file that is there now are told as well.
    const other = openTables(file);
    try {
      await mark.check(openMarkStore(other, now));
    } finally {
      other.close();
    }
    throw replacedFileError();
  }

  const oneBatch = (row: unknown): LedgerBatch | null => (row === undefined ? null : ledgerBatch.parse(row));

  return {
    check,
    isLost: () => mark.isLost || fileIdentity(file) !== identity,
    accept: () => mark.accept(marks),
    warnings: async () => [],
    claim: (principal, key, requestHash) =>
      claimAfterCheck(() => tryClaim(principal, key, requestHash), check),
    async renew(principal, key) {
      await write(() => renewPending.run(now(), principal, key));
    },
    async release(principal, key) {
      await write(() => deletePending.run(principal, key));
    },
    async entry(principal, key) {
      const row = selectKey.get(principal, key);
      return row === undefined ? null : keyEntry.parse({ ...row, now: now() });
    },
    async record(principal, key, batch, items) {
      await writeTimed((at) => {
        prune();
        insertBatch.run({ principal, ...batch });
        for (const [index, item] of items.entries()) {
          insertItem.run(principal, batch.batchId, index, item.name, JSON.stringify(item.chains));
        }
        if (key !== null) endKey.run(principal, key, batch.inputHash, 'submitted', batch.batchId, null, at);
      });
    },
    async recordUnknown(principal, key, { inputHash, upstreamRequestId }) {
      await writeTimed((at) => {
        insertUnknown.run(principal, inputHash, upstreamRequestId, at);
        if (key !== null) endKey.run(principal, key, inputHash, 'unknown', null, upstreamRequestId, at);
      });
    },
    async earlier(principal, inputHash) {
      const row: unknown = selectEarlier.get(principal, inputHash);
      return row === undefined ? null : earlierSubmission.parse(row);
    },
    async batch(principal, batchId) {
      return oneBatch(selectBatch.get(principal, batchId));
    },
    async batchOfOnlyTask(principal, taskId) {
      return oneBatch(selectOnlyTask.get(principal, taskId));
    },
    async items(principal, batchId, inputIndexes) {
      const found = new Map<number, LedgerItem>();
      for (const index of inputIndexes) {
        const row: unknown = selectItem.get(principal, batchId, index);
        if (row !== undefined) found.set(index, itemRow.parse(row));
      }
      return found;
    },
    async batches(principal, { first, after }) {
      const { total } = countRow.parse(countBatches.get(principal));
      const from = after ?? { submittedAt: Number.MAX_SAFE_INTEGER, batchId: '' };
      const rows = selectBatches.all(principal, from.submittedAt, from.batchId, first);
      return { total, batches: rows.map((row) => ledgerBatch.parse(row)) };
    },
    async scores(principal, taskIds) {
      return new Map(
        taskIds.flatMap((id) => {
          const row: unknown = selectScore.get(principal, id);
          return row === undefined ? [] : [[id, taskScores.parse(row)] as const];
        }),
      );
    },
    async saveScores(principal, scores) {
      await write(() => {
        for (const [id, { ptm, iptm, meanPlddt }] of scores)
          insertScore.run(principal, id, ptm, iptm, meanPlddt);
      });
    },
    formerSecrets: () => mark.formerSecrets,
    async rename(from, to) {
      if (selectAny.get(from)?.found === 0) return;
      await write(() => {
        for (const rename of renames) rename.run(to, from);
      });
    },
    async usage() {
      const { used } = sizeRow.parse(selectSize.get());
      if (file === ':memory:') return { usedBytes: used, limitBytes: null, evicts: false };
      const disk = await statfs(file);
      return { usedBytes: used, limitBytes: used + disk.bavail * disk.bsize, evicts: false };
    },
    async close() {
      clearTimeout(next);
      close();
    },
  };
}
