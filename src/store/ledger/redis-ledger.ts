// The ledger in Redis or Valkey, shared by gateways on any number of machines; as durable as that
// store's log (AOF).

import { openRedis, readUsage, timeArgument } from '../redis-connection.ts';
import { type Ledger, type LedgerBatch, RETENTION_MS } from './ledger.ts';
import { createIdempotencyClaims } from './redis-idempotency.ts';
import { RECORD, RECORD_UNKNOWN, RELEASE, SEAL_KEY } from './redis-ledger-scripts.ts';
import * as values from './redis-ledger-values.ts';

/** Changes with the shape of the stored values. */
const PREFIX = 'foldatlas:ledger:1:';
const SEALED_KEY = `${PREFIX}sealed-key`;
/** Keys that one step of a scan looks at. */
const SCAN_COUNT = 1_000;

/** The names of a principal's values. The caller-chosen part stands last. */
const namesOf = (principal: string) => {
  const name = (what: string) => (id: string) => `${PREFIX}${principal}:${what}:${id}`;
  return {
    key: name('key'),
    batch: name('batch'),
    task: name('task'),
    input: name('input'),
    batches: `${PREFIX}${principal}:batches`,
    scores: `${PREFIX}${principal}:scores`,
  };
};

/**
 * Sorts by time and then id, so that a page continues exactly after a batch, even a deleted one.
 */
const placeOf = (submittedAt: number, batchId: string): string =>
  `${String(submittedAt).padStart(16, '0')}:${batchId}`;
const idIn = (place: string): string => place.slice(17);

/**
 * Opens the ledger.
 *
 * @param url - `redis://…` or `rediss://…`
 * @param now - milliseconds since the epoch; the server's clock when absent
 * @param onError - called with every lost connection
 */
export function openRedisLedger(
  url: string,
  now: (() => number) | undefined,
  onError: (error: unknown) => void,
): Ledger {
  const redis = openRedis(url, onError);
  const claims = createIdempotencyClaims(redis, `${PREFIX}revoked:`);
  const time = () => timeArgument(now);
  const oldest = () => Math.max(0, (now ?? Date.now)() - RETENTION_MS);
  /** Redis removes what is past its time by its own clock, which a test's clock runs ahead of. */
  const isRetained = (at: number): boolean => now === undefined || at >= oldest();

  const readBatch = (text: string | null): LedgerBatch | null => {
    const batch = text === null ? null : values.readBatch(text);
    return batch !== null && isRetained(batch.submittedAt) ? batch : null;
  };
  const batchById = async (principal: string, batchId: string): Promise<LedgerBatch | null> =>
    readBatch(values.readText(await redis.send('HGET', namesOf(principal).batch(batchId), 'batch')));

  return {
    async check() {
      await redis.send('PING');
    },
    async claim(principal, key, requestHash) {
      const place = namesOf(principal).key(key);
      return values.readKey(await claims.take({ place, time: time(), requestHash, retention: RETENTION_MS }));
    },
    async release(principal, key) {
      await redis.run(RELEASE, [namesOf(principal).key(key)], []);
    },
    async entry(principal, key) {
      const entry = values.readKey(await redis.send('HGETALL', namesOf(principal).key(key)));
      return entry !== null && isRetained(entry.at) ? entry : null;
    },
    async record(principal, key, batch, items) {
      const { batchId, submittedAt, inputHash, onlyTaskId } = batch;
      const names = namesOf(principal);
      await redis.run(
        RECORD,
        [
          names.batch(batchId),
          names.batches,
          names.input(inputHash),
          names.task(onlyTaskId ?? ''),
          names.key(key ?? ''),
        ],
        [
          time(),
          String(RETENTION_MS),
          String(submittedAt),
          placeOf(submittedAt, batchId),
          batchId,
          values.writeBatch(batch),
          onlyTaskId === null ? '' : 'task',
          key === null ? '' : 'key',
          ...items.map(values.writeItem),
        ],
      );
    },
    async recordUnknown(principal, key, { inputHash, upstreamRequestId }) {
      const names = namesOf(principal);
      await redis.run(
        RECORD_UNKNOWN,
        [names.input(inputHash), names.key(key ?? '')],
        [time(), String(RETENTION_MS), key === null ? '' : 'key', upstreamRequestId ?? ''],
      );
    },
    async earlier(principal, inputHash) {
      const found = values.readEarlier(await redis.send('HGETALL', namesOf(principal).input(inputHash)));
      return found !== null && isRetained(found.at) ? found : null;
    },
    batch: batchById,
    async batchOfOnlyTask(principal, taskId) {
      const batchId = values.readText(await redis.send('GET', namesOf(principal).task(taskId)));
      return batchId === null ? null : batchById(principal, batchId);
    },
    async items(principal, batchId, inputIndexes) {
      const fields = ['batch', ...inputIndexes.map(String)];
      const reply = await redis.send('HMGET', namesOf(principal).batch(batchId), ...fields);
      const [batch = null, ...texts] = values.readTexts(reply);
      if (readBatch(batch) === null) return new Map();
      return new Map(
        inputIndexes.flatMap((index, i) => {
          const text = texts[i] ?? null;
          return text === null ? [] : [[index, values.readItem(text)] as const];
        }),
      );
    },
    async batches(principal, { first, after }) {
      const { batches } = namesOf(principal);
      const least = `[${placeOf(oldest(), '')}`;
      const most = after === null ? '+' : `(${placeOf(after.submittedAt, after.batchId)}`;
      const [total, places] = await Promise.all([
        redis.send('ZLEXCOUNT', batches, least, '+'),
        redis.send('ZREVRANGEBYLEX', batches, most, least, 'LIMIT', '0', String(first)),
      ]);
      const ids = values.readTexts(places).flatMap((place) => (place === null ? [] : [idIn(place)]));
      const found = await Promise.all(ids.map((id) => batchById(principal, id)));
      return { total: values.readCount(total), batches: found.filter((batch) => batch !== null) };
    },
    async scores(principal, taskIds) {
      if (taskIds.length === 0) return new Map();
      const texts = values.readTexts(await redis.send('HMGET', namesOf(principal).scores, ...taskIds));
      return new Map(
        taskIds.flatMap((id, i) => {
          const text = texts[i] ?? null;
          return text === null ? [] : [[id, values.readScores(text)] as const];
        }),
      );
    },
    async saveScores(principal, scores) {
      if (scores.size === 0) return;
      const fields = [...scores].flatMap(([id, score]) => [id, values.writeScores(score)]);
      await redis.send('HSET', namesOf(principal).scores, ...fields);
    },
    async sealedKey() {
      return values.readText(await redis.send('GET', SEALED_KEY));
    },
    async sealKey(expected, sealed) {
      return (await redis.run(SEAL_KEY, [SEALED_KEY], [expected ?? '', sealed])) === 1;
    },
    async usage() {
      return readUsage(String(await redis.send('INFO', 'memory')));
    },
    async isEmpty() {
      let cursor = '0';
      do {
        const step = await redis.send('SCAN', cursor, 'MATCH', `${PREFIX}*`, 'COUNT', String(SCAN_COUNT));
        const [next, keys] = values.readScan(step);
        if (keys.some((key) => key !== SEALED_KEY)) return false;
        cursor = next;
      } while (cursor !== '0');
      return true;
    },
    async close() {
      claims.close();
      await redis.close();
    },
  };
}
