// The ledger in Redis or Valkey, shared by gateways on any number of machines; as durable as that
// store's log (AOF).

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openRedis, readUsage, timeArgument } from '../redis-connection.ts';
import {
  chainSummaries,
  type EarlierSubmission,
  earlierSubmission,
  type KeyEntry,
  keyEntry,
  type Ledger,
  type LedgerBatch,
  ledgerBatch,
  RETENTION_MS,
  taskScores,
} from './ledger.ts';
import { CLAIM, RECORD, RECORD_UNKNOWN, RELEASE, REVOKE, SEAL_KEY } from './redis-ledger-scripts.ts';

/** Changes with the shape of the stored values. */
const PREFIX = 'foldatlas:ledger:1:';
const SEALED_KEY = `${PREFIX}sealed-key`;
/** Claims that were given up, by their tokens. */
const REVOKED = `${PREFIX}revoked:`;
/** How long each is remembered, in case it is still on its way. */
const REVOKED_MS = 3_600_000;
const MAX_RETRY_MS = 2_000;
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

const textReply = z.string().nullable();
const textReplies = z.array(textReply);
const scanReply = z.tuple([z.string(), z.array(z.string())]);
const flatReply = z.array(z.string());
const storedScores = z.array(z.unknown());
const storedItem = z.object({ name: z.string().nullable(), chains: chainSummaries });

/** Fields of a hash from the flat list that Redis answers; null for a hash that is not there. */
function fieldsOf(reply: unknown): Record<string, string> | null {
  const flat = flatReply.parse(reply);
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i] ?? ''] = flat[i + 1] ?? '';
  return flat.length === 0 ? null : fields;
}

function readKey(reply: unknown): KeyEntry | null {
  const fields = fieldsOf(reply);
  if (fields === null) return null;
  const { state, at, hash: requestHash, batch: batchId, request: upstreamRequestId } = fields;
  return keyEntry.parse({ state, at, requestHash, batchId, upstreamRequestId });
}

function readEarlier(reply: unknown): EarlierSubmission | null {
  const fields = fieldsOf(reply);
  if (fields === null) return null;
  const { at, batch: batchId } = fields;
  return earlierSubmission.parse({ at, batchId: batchId === '' ? null : batchId });
}

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
  const closing = new AbortController();
  const time = () => timeArgument(now);
  /** The sealed key as it was last seen: replicas that start later must name callers by the same one. */
  let knownSealedKey: string | null = null;
  const readSealedKey = async () => textReply.parse(await redis.send('GET', SEALED_KEY));
  const sealKey = async (expected: string | null, sealed: string): Promise<boolean> =>
    (await redis.run(SEAL_KEY, [SEALED_KEY], [expected ?? '', sealed])) === 1;
  const oldest = () => Math.max(0, (now ?? Date.now)() - RETENTION_MS);
  /** Redis removes what is past its time by its own clock, which a test's clock runs ahead of. */
  const isRetained = (at: number): boolean => now === undefined || at >= oldest();

  const readBatch = (text: string | null): LedgerBatch | null => {
    const batch = text === null ? null : ledgerBatch.parse(JSON.parse(text));
    return batch !== null && isRetained(batch.submittedAt) ? batch : null;
  };
  const batchById = async (principal: string, batchId: string): Promise<LedgerBatch | null> =>
    readBatch(textReply.parse(await redis.send('HGET', namesOf(principal).batch(batchId), 'batch')));

  /** Undoes a claim whose reply was lost, as soon as the store answers. */
  async function undoClaim(place: string, token: string): Promise<void> {
    for (let pause = 100; !closing.signal.aborted; pause = Math.min(MAX_RETRY_MS, pause * 2)) {
      try {
        await redis.run(REVOKE, [place, REVOKED + token], [token, String(REVOKED_MS)]);
        return;
      } catch {
        await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  return {
    async check() {
      // A script over two keys, as the ledger's own are: a cluster refuses it.
      await redis.run('return 1', [SEALED_KEY, REVOKED], []).catch((error: unknown) => {
        if (!String(error).includes('CROSSSLOT')) throw error;
        const advice =
          'The ledger needs a single Redis or Valkey (with replicas, if you like), not a cluster.';
        throw new Error(`${advice} ${String(error)}`, { cause: error });
      });
      const sealed = await readSealedKey();
      if (sealed === null && knownSealedKey !== null) await sealKey(null, knownSealedKey);
      knownSealedKey = sealed ?? knownSealedKey;
    },
    async claim(principal, key, requestHash) {
      const place = namesOf(principal).key(key);
      const token = randomUUID();
      const keys = [place, REVOKED + token, SEALED_KEY];
      const what = [time(), requestHash, token, String(RETENTION_MS), knownSealedKey ?? ''];
      const reply = await redis.run(CLAIM, keys, what).catch((error: unknown) => {
        void undoClaim(place, token);
        throw error;
      });
      return readKey(reply);
    },
    async release(principal, key) {
      await redis.run(RELEASE, [namesOf(principal).key(key)], []);
    },
    async entry(principal, key) {
      const entry = readKey(await redis.send('HGETALL', namesOf(principal).key(key)));
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
          JSON.stringify(batch),
          onlyTaskId === null ? '' : 'task',
          key === null ? '' : 'key',
          ...items.map(({ name, chains }) => JSON.stringify({ name, chains })),
        ],
      );
    },
    async recordUnknown(principal, key, { inputHash, upstreamRequestId }) {
      const names = namesOf(principal);
      await redis.run(
        RECORD_UNKNOWN,
        [names.input(inputHash), names.key(key ?? '')],
        [time(), String(RETENTION_MS), key === null ? '' : 'key', upstreamRequestId ?? '', inputHash],
      );
    },
    async earlier(principal, inputHash) {
      const found = readEarlier(await redis.send('HGETALL', namesOf(principal).input(inputHash)));
      return found !== null && isRetained(found.at) ? found : null;
    },
    batch: batchById,
    async batchOfOnlyTask(principal, taskId) {
      const batchId = textReply.parse(await redis.send('GET', namesOf(principal).task(taskId)));
      return batchId === null ? null : batchById(principal, batchId);
    },
    async items(principal, batchId, inputIndexes) {
      const fields = ['batch', ...inputIndexes.map(String)];
      const reply = await redis.send('HMGET', namesOf(principal).batch(batchId), ...fields);
      const [batch = null, ...texts] = textReplies.parse(reply);
      if (readBatch(batch) === null) return new Map();
      return new Map(
        inputIndexes.flatMap((index, i) => {
          const text = texts[i] ?? null;
          return text === null ? [] : [[index, storedItem.parse(JSON.parse(text))] as const];
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
      const ids = textReplies.parse(places).flatMap((place) => (place === null ? [] : [idIn(place)]));
      const found = await Promise.all(ids.map((id) => batchById(principal, id)));
      return { total: z.number().parse(total), batches: found.filter((batch) => batch !== null) };
    },
    async scores(principal, taskIds) {
      if (taskIds.length === 0) return new Map();
      const texts = textReplies.parse(await redis.send('HMGET', namesOf(principal).scores, ...taskIds));
      return new Map(
        taskIds.flatMap((id, i) => {
          const text = texts[i] ?? null;
          if (text === null) return [];
          const [ptm, iptm, meanPlddt] = storedScores.parse(JSON.parse(text));
          return [[id, taskScores.parse({ ptm, iptm, meanPlddt })] as const];
        }),
      );
    },
    async saveScores(principal, scores) {
      if (scores.size === 0) return;
      const fields = [...scores].flatMap(([id, { ptm, iptm, meanPlddt }]) => [
        id,
        JSON.stringify([ptm, iptm, meanPlddt]),
      ]);
      await redis.send('HSET', namesOf(principal).scores, ...fields);
    },
    sealedKey: readSealedKey,
    sealKey,
    async usage() {
      return readUsage(String(await redis.send('INFO', 'memory')));
    },
    async isEmpty() {
      let cursor = '0';
      do {
        const step = await redis.send('SCAN', cursor, 'MATCH', `${PREFIX}*`, 'COUNT', String(SCAN_COUNT));
        const [next, keys] = scanReply.parse(step);
        if (keys.some((key) => key !== SEALED_KEY)) return false;
        cursor = next;
      } while (cursor !== '0');
      return true;
    },
    async close() {
      closing.abort();
      await redis.close();
    },
  };
}
