// The ledger in Redis or Valkey, shared by gateways on any number of machines; as durable as that
// store's log (AOF).

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../async/clock.ts';
import { openRedis, type RedisConnection, readMemoryUsage, timeArgument } from '../redis-connection.ts';
import { createLedger, type LedgerStore } from './create-ledger.ts';
import {
  type EarlierSubmission,
  earlierSubmission,
  type KeyEntry,
  keyEntry,
  type Ledger,
  ledgerBatch,
  RETENTION_MS,
} from './ledger.ts';
import { MAX_AHEAD_MS, readMarkText } from './mark.ts';
import type { LedgerSecrets } from './principals.ts';
import { createRedisClock, MAX_JUMP_MS, type RedisClock } from './redis-clock.ts';
import {
  CLAIM,
  READ_MARK,
  RECORD,
  RECORD_UNKNOWN,
  RELEASE,
  RENAME,
  RENEW,
  REPLACE_MARK,
} from './redis-ledger-scripts.ts';
import { createReplication, type Replication } from './replication.ts';

/** Changes with the shape of the stored values. */
const PREFIX = 'foldatlas:ledger:1:';
const MARK = `${PREFIX}mark`;
const NEWEST = `${PREFIX}newest`;
/** Is written behind what was read, so that replicas which have it have that too. */
const CHECKED = `${PREFIX}checked`;
/** Claims that were given up, by their tokens. */
const REVOKED = `${PREFIX}revoked:`;
/** By its clock, which may be ahead by less than a jump that is noticed. */
const STORED_MS = RETENTION_MS + MAX_JUMP_MS;
/** How long each is remembered, in case it is still on its way. */
const REVOKED_MS = 3_600_000;
/** Keys that one step of a scan looks at. */
const SCAN_COUNT = 1_000;
const NO_ROLE =
  'This Redis does not let the gateway ask for its replicas (ROLE): when it fails over to one that lacks the last ' +
  'moment, keys that were paid could be paid again. Allow ROLE and WAIT (docs/operators.md, Failover).';
const NO_LOG =
  'This Redis does not write a log (appendonly no): when it restarts it has lost submissions, and keys that ' +
  'were paid could be paid again. Set `appendonly yes` (docs/operators.md, Several machines).';

/** The names of a principal's values. The caller-chosen part stands last. */
const principalKeys = (principal: string) => {
  const name = (what: string) => (id: string) => `${PREFIX}${principal}:${what}:${id}`;
  return {
    key: name('key'),
    batch: name('batch'),
    task: name('task'),
    input: name('input'),
    batches: `${PREFIX}${principal}:batches`,
    scores: `${PREFIX}${principal}:task-scores`,
  };
};

/**
 * Sorts by time and then id, so that a page continues exactly after a batch, even a deleted one.
 */
const batchPlace = (submittedAt: number, batchId: string): string =>
  `${String(submittedAt).padStart(16, '0')}:${batchId}`;
const batchIdIn = (place: string): string => place.slice(17);

const textReply = z.string().nullable();
const textReplies = z.array(textReply);
const scanReply = z.tuple([z.string(), z.array(z.string())]);
const flatReply = z.array(z.string());

const markReply = z
  .tuple([z.string().nullable(), z.coerce.number(), z.number(), z.coerce.number()])
  .transform(([text, newest, isKept, now]) => ({ text, newest, isKept: isKept === 1, now }));

/** Fields of a hash from the flat list that Redis answers; null for a hash that is not there. */
function readHash(reply: unknown): Record<string, string> | null {
  const flat = flatReply.parse(reply);
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i] ?? ''] = flat[i + 1] ?? '';
  return flat.length === 0 ? null : fields;
}

function readKey(reply: unknown): KeyEntry | null {
  const fields = readHash(reply);
  if (fields === null) return null;
  const { state, at, now, hash: requestHash, batch: batchId, request: upstreamRequestId } = fields;
  return keyEntry.parse({ state, at, now, requestHash, batchId, upstreamRequestId });
}

function readEarlier(reply: unknown): EarlierSubmission | null {
  const fields = readHash(reply);
  if (fields === null) return null;
  const { at, batch: batchId } = fields;
  return earlierSubmission.parse({ at, batchId: batchId === '' ? null : batchId });
}

interface RedisLedgerOptions {
  readonly now: (() => number) | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly onError: (error: unknown) => void;
}

/**
 * Opens the ledger.
 *
 * @param url - `redis://…` or `rediss://…`
 * @param options.now - milliseconds since the epoch; the server's clock when absent
 * @param options.clock - of the gateway
 * @param options.onError - called with every lost connection
 */
export function openRedisLedger(
  url: string,
  secrets: LedgerSecrets,
  { now, clock, onError }: RedisLedgerOptions,
): Ledger {
  const checkInBackground = (): void => void ledger.check().catch(onError);
  const redis = openRedis(url, onError, checkInBackground);
  // The first connection reports a loss; the check succeeds when both are made again.
  const durable = openRedis(url, () => undefined, checkInBackground);
  const replication = createReplication(durable);
  const redisClock = createRedisClock(clock);
  const check = (): Promise<void> => ledger.check();
  const ledger = createLedger(
    createLedgerStore({ redis, durable, replication, redisClock, check }, now),
    secrets,
  );
  return ledger;
}

interface LedgerConnections {
  /** For reads, and for writes that may be lost. */
  readonly redis: RedisConnection;
  /** For writes that a failover must not take back. */
  readonly durable: RedisConnection;
  readonly replication: Replication;
  readonly redisClock: RedisClock;
  /** Checks the mark, and writes there that the ledger has had replicas. */
  readonly check: () => Promise<void>;
}

function createLedgerStore(
  { redis, durable, replication, redisClock, check }: LedgerConnections,
  now: (() => number) | undefined,
): LedgerStore {
  /** Under this stands the time of the last write of this gateway. */
  const lastWrite = `${PREFIX}last:${randomUUID()}`;
  const time = () => timeArgument(now);
  const latest = () => String(Math.round(redisClock.latest()));
  /** Names of principals, read once: only those of a former secret are looked for in it. */
  let principals: Promise<ReadonlySet<string>> | undefined;
  const oldest = () => Math.max(0, (now ?? Date.now)() - RETENTION_MS);
  /** Redis removes what is past its time by its own clock, which a test's clock runs ahead of. */
  const isRetained = (at: number): boolean => now === undefined || at >= oldest();

  const isRetainedBatch = (text: string | null): text is string =>
    text !== null && isRetained(ledgerBatch.parse(JSON.parse(text)).submittedAt);
  const findBatch = async (principal: string, batchId: string): Promise<string | null> => {
    const text = textReply.parse(await redis.send('HGET', principalKeys(principal).batch(batchId), 'batch'));
    return isRetainedBatch(text) ? text : null;
  };

  /** Keys of the ledger that begin so, some at a time. */
  async function* scan(prefix: string): AsyncGenerator<string[]> {
    let cursor = '0';
    do {
      const step = await redis.send('SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', String(SCAN_COUNT));
      const [next, keys] = scanReply.parse(step);
      yield keys;
      cursor = next;
    } while (cursor !== '0');
  }

  async function readPrincipals(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for await (const keys of scan(PREFIX))
      for (const key of keys) found.add(key.slice(PREFIX.length).split(':', 1)[0] ?? '');
    return found;
  }

  return {
    async readMark(known) {
      const args = [time(), String(known.lastWrite)];
      const reply = await durable.run(READ_MARK, [MARK, NEWEST, lastWrite], args).catch((error: unknown) => {
        // A cluster refuses scripts over several keys.
        if (!String(error).includes('CROSSSLOT')) throw error;
        const advice =
          'The ledger needs a single Redis or Valkey (with replicas, if you like), not a cluster.';
        throw new Error(`${advice} ${String(error)}`, { cause: error });
      });
      // Both connections are needed to serve.
      await redis.send('PING');
      const stored = markReply.parse(reply);
      const mark = stored.text === null ? null : readMarkText(stored.text);
      const isJumped = redisClock.isJumped({ ...stored, id: mark?.id ?? null });
      const isMarked = mark?.hasReplicas === true;
      if (isMarked) replication.isNew = false;
      const hasReplicas = replication.isNew || (await replication.count()) > 0;
      replication.isRequired = hasReplicas || isMarked;
      const isDurable =
        !replication.isRequired ||
        (await replication
          .write(() => durable.send('SET', CHECKED, ''))
          .then(
            () => true,
            () => false,
          ));
      return { ...stored, isDurable, hasReplicas, isJumped };
    },
    async replaceMark(expected, next, resets) {
      const args = [time(), expected ?? '', next, resets ? 'reset' : '', latest()];
      return (await redis.run(REPLACE_MARK, [MARK, NEWEST], args)) === 1;
    },
    needsReplica: () => replication.isRequired,
    async warnings() {
      // A server may forbid the question.
      const reply = await redis.send('CONFIG', 'GET', 'appendonly').catch(() => []);
      const role = await redis.send('ROLE').catch(() => null);
      return [...(readHash(reply)?.appendonly === 'no' ? [NO_LOG] : []), ...(role === null ? [NO_ROLE] : [])];
    },
    async claim(names, key, requestHash, known, token) {
      const [name, ...formerNames] = names;
      const formerPlaces = formerNames.map((former) => principalKeys(former).key(key));
      const keys = [principalKeys(name).key(key), REVOKED + token, MARK, NEWEST, lastWrite, ...formerPlaces];
      const limits = [known.text, String(known.leastNewest), String(MAX_AHEAD_MS), latest()];
      const args = [time(), requestHash, token, String(STORED_MS), ...limits, String(known.lastWrite)];
      const reply = await replication.write(
        () => durable.run(CLAIM, keys, args),
        (answer) => typeof answer === 'string',
      );
      // A gateway that starts later has to know of the replicas, too.
      if (replication.isNew) await check();
      return typeof reply === 'string' ? Number(reply) : (readKey(reply) ?? 'unexpected mark');
    },
    async renew(principal, key) {
      await redis.run(RENEW, [principalKeys(principal).key(key)], [time()]);
    },
    async release(principal, key, token) {
      const keys = [principalKeys(principal).key(key), REVOKED + token];
      await redis.run(RELEASE, keys, [token, String(REVOKED_MS)]);
    },
    async record(principal, key, batch, items, known) {
      const { batchId, submittedAt, inputHash, onlyTaskId } = batch;
      const names = principalKeys(principal);
      const keys = [
        names.batch(batchId),
        names.batches,
        names.input(inputHash),
        names.task(onlyTaskId ?? ''),
        names.key(key ?? ''),
        NEWEST,
        lastWrite,
      ];
      const args = [
        time(),
        String(STORED_MS),
        String(submittedAt),
        batchPlace(submittedAt, batchId),
        batchId,
        JSON.stringify(batch),
        onlyTaskId === null ? '' : 'task',
        key === null ? '' : 'key',
        latest(),
        String(known.lastWrite),
        ...items.map((item) => JSON.stringify(item)),
      ];
      return Number(await replication.write(() => durable.run(RECORD, keys, args)));
    },
    async recordUnknown(principal, key, { inputHash, upstreamRequestId }, known) {
      const names = principalKeys(principal);
      const keys = [names.input(inputHash), names.key(key ?? ''), NEWEST, lastWrite];
      const args = [
        time(),
        String(STORED_MS),
        key === null ? '' : 'key',
        upstreamRequestId ?? '',
        inputHash,
        latest(),
        String(known.lastWrite),
      ];
      return Number(await replication.write(() => durable.run(RECORD_UNKNOWN, keys, args)));
    },
    async requestHash(principal, key) {
      const reply = await redis.send('HMGET', principalKeys(principal).key(key), 'at', 'hash');
      const [at = null, hash = null] = textReplies.parse(reply);
      return at !== null && isRetained(Number(at)) ? hash : null;
    },
    async earlier(principal, inputHash) {
      const found = readEarlier(await redis.send('HGETALL', principalKeys(principal).input(inputHash)));
      return found !== null && isRetained(found.at) ? found : null;
    },
    batch: findBatch,
    batchIdOfOnlyTask: async (principal, taskId) =>
      textReply.parse(await redis.send('GET', principalKeys(principal).task(taskId))),
    async items(principal, batchId, inputIndexes) {
      const fields = ['batch', ...inputIndexes.map(String)];
      const reply = await redis.send('HMGET', principalKeys(principal).batch(batchId), ...fields);
      const [batch = null, ...items] = textReplies.parse(reply);
      return isRetainedBatch(batch) ? items : [];
    },
    async batches(principal, { first, after }) {
      const { batches } = principalKeys(principal);
      const least = `[${batchPlace(oldest(), '')}`;
      const most = after === null ? '+' : `(${batchPlace(after.submittedAt, after.batchId)}`;
      const [total, places] = await Promise.all([
        redis.send('ZLEXCOUNT', batches, least, '+'),
        redis.send('ZREVRANGEBYLEX', batches, most, least, 'LIMIT', '0', String(first)),
      ]);
      const ids = flatReply.parse(places).map(batchIdIn);
      const found = await Promise.all(ids.map((id) => findBatch(principal, id)));
      return { total: z.number().parse(total), batches: found.filter((batch) => batch !== null) };
    },
    scores: async (principal, taskIds) =>
      taskIds.length === 0
        ? []
        : textReplies.parse(await redis.send('HMGET', principalKeys(principal).scores, ...taskIds)),
    async saveScores(principal, scores) {
      if (scores.size === 0) return;
      const fields = [...scores].flatMap(([id, found]) => [id, JSON.stringify(found)]);
      await redis.send('HSET', principalKeys(principal).scores, ...fields);
    },
    async rename(from, to) {
      principals ??= readPrincipals();
      const known = await principals.catch((error: unknown) => {
        principals = undefined;
        throw error;
      });
      if (!known.has(from)) return;
      for await (const keys of scan(`${PREFIX}${from}:`))
        for (const key of keys)
          await redis.run(RENAME, [key, `${PREFIX}${to}${key.slice(PREFIX.length + from.length)}`], []);
    },
    usage: () => readMemoryUsage(redis),
    async close() {
      await Promise.all([redis.close(), durable.close()]);
    },
  };
}
