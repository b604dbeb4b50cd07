// The ledger in SQLite: one file (or memory), shared by any number of processes on a machine,
// intact after a crash.
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { createSqliteStore, type SqliteStore } from '../sqlite-file.ts';
import { DamagedStoreError, UnusableStoreError } from '../unusable-store.ts';
import { createLedger, type LedgerStore } from './create-ledger.ts';
import {
  bestEntry,
  earlierSubmission,
  type KeyEntry,
  keyEntry,
  type Ledger,
  RETENTION_MS,
} from './ledger.ts';
import { type ExpectedMark, MAX_AHEAD_MS, type MarkStore, readMarkText } from './mark.ts';
import { createOverwriteCheck } from './overwrite-check.ts';
import type { LedgerSecrets } from './principals.ts';
import { openReadOnlyTables, openTables } from './sqlite-tables.ts';
import { openWitness, type WitnessFile } from './witness-file.ts';

/**
 * The kinds of entries. An item's id is its batch and position, an input's its hash; the others
 * have their own. The text is JSON, except that of an only task: the id of its batch.
 */
type Kind = 'batch' | 'item' | 'input' | 'key' | 'only_task' | 'scores';

const TRIED_BYTES = 32_768;
const PRUNE_INTERVAL_MS = 3_600_000;
/** Rows that one transaction deletes: 500,000 held the event loop for 2 to 7 seconds. */
const PRUNE_ROWS = 64;
const PRUNE_PAUSE_MS = 20;
/**
 * How much more is past its time at most, each time the ledger is pruned: the clock may be wrong.
 */
const MAX_PRUNE_STEP_MS = 24 * 3_600_000;

/** A key that no submission has spent: of a principal, by its id. */
const WHERE_PENDING = `WHERE principal = ? AND kind = 'key' AND id = ? AND text ->> 'state' = 'pending'`;

/** Its process ends or renews a pending key under the name of before, under which it is found. */
const MOVE = `
  UPDATE OR IGNORE entry SET principal = ?
  WHERE principal = ? AND NOT (kind = 'key' AND text ->> 'state' = 'pending')`;

const markRow = z.object({ text: z.string().nullable(), newest: z.number() });
const newestRow = z.object({ newest: z.number() });
const prunedRow = z.object({ prunedTo: z.number().nullable() });
const countRow = z.object({ total: z.number() });
const sizeRow = z.object({ used: z.number() });
const textRow = z.object({ text: z.string() });
const entryRow = textRow.extend({ at: z.number() });

/** Device and inode of a file; undefined for one in memory, or that is not there. */
function fileIdentity(file: string): string | undefined {
  const stat = file === ':memory:' ? undefined : statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

function createMarkStore(
  sql: SqliteStore,
  now: () => number,
  witness: WitnessFile | undefined,
): MarkStore & { readonly keepWitness: (isDurable?: boolean) => Promise<void> } {
  const readRow = () => markRow.parse(sql.get('SELECT text, newest FROM mark'));
  async function keepWitness(isDurable = true): Promise<void> {
    if (witness === undefined) return;
    // Under the lock of the ledger: processes that share it write one after the other.
    await sql.write(() => {
      const { text, newest } = readRow();
      const mark = text === null ? null : readMarkText(text);
      if (mark === null) return;
      if (mark.lost === undefined) witness.write({ id: mark.id, newest }, isDurable);
      // The loss is known also where the ledger is removed now.
      else if (witness.read() === null) witness.writeLoss(mark.id);
    });
  }
  /** Writes as much as a claim does, and more: a disk that took nothing may take it again. */
  async function tryDisk(): Promise<void> {
    // An entry that stays is pruned.
    const text = 'x'.repeat(TRIED_BYTES);
    await sql.write(() => sql.run("INSERT OR REPLACE INTO entry VALUES ('', 'key', '', 0, ?)", text));
    await sql.write(() => sql.run("DELETE FROM entry WHERE principal = ''"));
    await keepWitness();
    sql.endDiskFault();
  }
  return {
    async readMark() {
      if (sql.fault !== undefined || witness?.fault !== undefined) await tryDisk();
      return sql.write(() => {
        const stored = { ...readRow(), isKept: true, isDurable: true, hasReplicas: false, now: now() };
        return witness === undefined ? stored : { ...stored, witness: witness.read() };
      });
    },
    keepWitness,
    async replaceMark(expected, next, resets) {
      const newest = resets ? '?' : 'max(newest + 1, ?)';
      const isReplaced = await sql.write(
        () =>
          sql.run(`UPDATE mark SET text = ?, newest = ${newest} WHERE text IS ?`, next, now(), expected) ===
          1,
      );
      // A file whose log is lost then still tells that it is marked.
      sql.checkpoint();
      return isReplaced;
    },
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
  /** @returns whether there may be more. Of one time, a batch is deleted after its items. */
  const pruneSome = (limit: number): boolean =>
    sql.run(
      `DELETE FROM entry WHERE (principal, kind, id) IN (
         SELECT principal, kind, id FROM entry WHERE at < ? ORDER BY at, kind DESC LIMIT ${PRUNE_ROWS})`,
      limit,
    ) === PRUNE_ROWS;

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
 * Opens the ledger in a file. Where that cannot be used, because its disk is full or its pages are
 * damaged, what can be read of it is read, and everything else fails.
 *
 * @param file - a path, or ':memory:'
 * @param now - milliseconds since the epoch
 */
export function openSqliteLedger(file: string, secrets: LedgerSecrets, now: () => number): Ledger {
  let witness: WitnessFile | undefined;
  try {
    if (file !== ':memory:') witness = openWitness(file);
    return createLedger(createLedgerStore(openTables(file), file, now, witness), secrets);
  } catch (error) {
    // The next one that opens the file may write a log of another file into it.
    if (error instanceof DamagedStoreError) witness?.writeLoss();
    witness?.close();
    if (!(error instanceof UnusableStoreError)) throw error;
    const fail = () => Promise.reject(error);
    const writes = { claim: fail, renew: fail, release: fail, record: fail, recordUnknown: fail };
    const others = { check: fail, accept: fail, rename: fail, saveScores: fail };
    const isLost = () => error instanceof DamagedStoreError;
    const readable = createLedger(createLedgerStore(openReadOnlyTables(file), file, now, undefined), secrets);
    return { ...readable, ...writes, ...others, isLost };
  }
}

function createLedgerStore(
  database: DatabaseSyncInstance,
  file: string,
  now: () => number,
  witness: WitnessFile | undefined,
): LedgerStore {
  const identity = fileIdentity(file);
  const isReplaced = (): boolean => fileIdentity(file) !== identity;
  const sql = createSqliteStore(database);
  const closing = new AbortController();
  const prune = createPruner(sql, now, closing.signal);
  void prune();
  const markStore = createMarkStore(sql, now, witness);
  const findOverwrite = file === ':memory:' ? () => undefined : createOverwriteCheck(file);
  findOverwrite();
  let damageFound: DamagedStoreError | undefined;

  /** Looks for damage. What is found stays, and is witnessed: also the next start finds a loss. */
  function damage(): DamagedStoreError | undefined {
    if (damageFound !== undefined) return damageFound;
    const faults = [isReplaced() ? undefined : findOverwrite(), sql.fault];
    damageFound = faults.find((fault) => fault instanceof DamagedStoreError);
    if (damageFound !== undefined) witness?.writeLoss();
    return damageFound;
  }

  const isAsExpected = ({ text, leastNewest }: ExpectedMark): boolean => {
    const stored = markRow.parse(sql.get('SELECT text, newest FROM mark'));
    const isInTime = stored.newest >= leastNewest && stored.newest <= now() + MAX_AHEAD_MS;
    return !isReplaced() && stored.text === text && isInTime;
  };
  /** Writes, and raises the newest time of the mark. @returns the latter */
  const writeTimed = (work: (at: number) => void): number => {
    const at = now();
    work(at);
    return newestRow.parse(sql.get('UPDATE mark SET newest = max(newest + 1, ?) RETURNING newest', at))
      .newest;
  };
  /**
   * Every write is witnessed before its caller hears of it: a copy of before is then known. The
   * end of a submission does not wait for the disk: in a copy of just before it the key is claimed.
   */
  async function witnessed(written: Promise<number>): Promise<number> {
    const newest = await written;
    await markStore.keepWitness(false);
    return newest;
  }
  const find = (principal: string, kind: Kind, id: string): unknown =>
    sql.get('SELECT at, text FROM entry WHERE principal = ? AND kind = ? AND id = ?', principal, kind, id);
  const findText = (principal: string, kind: Kind, id: string): string | null => {
    const row = find(principal, kind, id);
    return row === undefined ? null : textRow.parse(row).text;
  };
  const put = (principal: string, kind: Kind, id: string, at: number | null, text: string): number =>
    sql.run('INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)', principal, kind, id, at, text);
  /** Remembers a submission by its input, unless a newer one is known. */
  const putInput = (principal: string, inputHash: string, at: number, batchId: string | null): number =>
    sql.run(
      `INSERT INTO entry VALUES (?, 'input', ?, ?, ?)
       ON CONFLICT DO UPDATE SET at = excluded.at, text = excluded.text WHERE excluded.at >= entry.at`,
      ...[principal, inputHash, at, JSON.stringify({ batchId })],
    );

  function findKey(principal: string, key: string): KeyEntry | null {
    const row = find(principal, 'key', key);
    if (row === undefined) return null;
    const { at, text } = entryRow.parse(row);
    return keyEntry.parse({ ...JSON.parse(text), at, now: now() });
  }
  /** Spends a key. One whose claim was lost comes back with the hash of the input. */
  function endKey(
    principal: string,
    key: string,
    at: number,
    inputHash: string,
    end:
      | { readonly state: 'submitted'; readonly batchId: string }
      | { readonly state: 'unknown'; readonly upstreamRequestId: string | null },
  ): void {
    const { requestHash, at: claimedAt } = findKey(principal, key) ?? { requestHash: inputHash, at };
    put(principal, 'key', key, claimedAt, JSON.stringify({ requestHash, ...end }));
  }

  return {
    ...markStore,
    damage,
    isReplaced,
    openReplacement() {
      const other = createSqliteStore(openTables(file));
      return { ...createMarkStore(other, now, witness), close: other.close };
    },
    warnings: async () => [],
    async claim(names, key, requestHash, expected, token) {
      void prune();
      const claimed = await sql.write(() => {
        const known = bestEntry(names.map((name) => findKey(name, key)));
        if (known !== null) return known;
        if (!isAsExpected(expected)) return 'unexpected mark';
        return writeTimed((at) =>
          put(names[0], 'key', key, at, JSON.stringify({ requestHash, state: 'pending', token })),
        );
      });
      if (typeof claimed === 'number') await markStore.keepWitness();
      return claimed;
    },
    async renew(principal, key) {
      await sql.write(() => sql.run(`UPDATE entry SET at = ? ${WHERE_PENDING}`, now(), principal, key));
    },
    async release(principal, key, token) {
      const where = `${WHERE_PENDING} AND text ->> 'token' = ?`;
      await sql.write(() => sql.run(`DELETE FROM entry ${where}`, principal, key, token));
    },
    record(principal, key, batch, items) {
      void prune();
      const written = sql.write(() =>
        writeTimed((at) => {
          const { batchId, submittedAt, inputHash, onlyTaskId } = batch;
          put(principal, 'batch', batchId, submittedAt, JSON.stringify(batch));
          for (const [index, item] of items.entries())
            put(principal, 'item', `${batchId}/${index}`, submittedAt, JSON.stringify(item));
          putInput(principal, inputHash, submittedAt, batchId);
          if (onlyTaskId !== null) put(principal, 'only_task', onlyTaskId, submittedAt, batchId);
          if (key !== null) endKey(principal, key, at, inputHash, { state: 'submitted', batchId });
        }),
      );
      return witnessed(written);
    },
    recordUnknown(principal, key, { inputHash, upstreamRequestId }) {
      const written = sql.write(() =>
        writeTimed((at) => {
          putInput(principal, inputHash, at, null);
          if (key !== null) endKey(principal, key, at, inputHash, { state: 'unknown', upstreamRequestId });
        }),
      );
      return witnessed(written);
    },
    requestHash: async (principal, key) => findKey(principal, key)?.requestHash ?? null,
    async earlier(principal, inputHash) {
      const row = find(principal, 'input', inputHash);
      if (row === undefined) return null;
      const { at, text } = entryRow.parse(row);
      return earlierSubmission.parse({ ...JSON.parse(text), at });
    },
    batch: async (principal, batchId) => findText(principal, 'batch', batchId),
    batchIdOfOnlyTask: async (principal, taskId) => findText(principal, 'only_task', taskId),
    items: async (principal, batchId, indexes) =>
      indexes.map((index) => findText(principal, 'item', `${batchId}/${index}`)),
    async batches(principal, { first, after }) {
      const { total } = countRow.parse(
        sql.get(`SELECT count(*) AS total FROM entry WHERE principal = ? AND kind = 'batch'`, principal),
      );
      const from = after ?? { submittedAt: Number.MAX_SAFE_INTEGER, batchId: '' };
      const rows = sql.all(
        `SELECT text FROM entry WHERE principal = ? AND kind = 'batch' AND (at, id) < (?, ?)
         ORDER BY at DESC, id DESC LIMIT ?`,
        ...[principal, from.submittedAt, from.batchId, first],
      );
      return { total, batches: rows.map((row) => textRow.parse(row).text) };
    },
    scores: async (principal, taskIds) => taskIds.map((id) => findText(principal, 'scores', id)),
    async saveScores(principal, scores) {
      await sql.write(() => {
        for (const [id, found] of scores) put(principal, 'scores', id, null, JSON.stringify(found));
      });
    },
    async rename(from, to) {
      await sql.write(() => sql.run(MOVE, to, from));
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
      // SQLite writes its log into the file now, whatever that is.
      damage();
      sql.close();
      witness?.close();
    },
  };
}
