// Documents and leases in Redis or Valkey, shared by gateways on any number of machines.
import { z } from 'zod';
import { NOW, openRedis, timeArgument } from '../redis-connection.ts';
import type { LeasedDocumentStore } from './leased-documents.ts';

const PREFIX = 'foldatlas:documents:1:';
/**
 * Keys in order, and keys by expiry of their documents: Redis cannot list ranges of its key names.
 */
const NAMES = `${PREFIX}names`;
const ENDS = `${PREFIX}ends`;

/** KEYS document; ARGV time, known version or nothing. */
const GET = `${NOW}
  local found = redis.call('HMGET', KEYS[1], 'version', 'until')
  if not found[1] or tonumber(found[2]) <= now then return {} end
  if found[1] == ARGV[2] then return { found[1] } end
  return { found[1], redis.call('HGET', KEYS[1], 'text') }
`;

/**
 * KEYS document, names, ends; ARGV time, key, text, end, expected version or nothing. Also removes
 * up to 100 expired documents from the lists.
 */
const PUT = `${NOW}
  local found = redis.call('HMGET', KEYS[1], 'version', 'until')
  local version = 0
  if found[1] and tonumber(found[2]) > now then version = tonumber(found[1]) end
  if ARGV[5] ~= '' and tonumber(ARGV[5]) ~= version then return 0 end
  redis.call('HSET', KEYS[1], 'text', ARGV[3], 'version', version + 1, 'until', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil(tonumber(ARGV[4]) - now)))
  for _, ended in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', KEYS[2], ended)
    redis.call('ZREM', KEYS[3], ended)
  end
  redis.call('ZADD', KEYS[2], 0, ARGV[2])
  redis.call('ZADD', KEYS[3], ARGV[4], ARGV[2])
  return version + 1
`;

/** KEYS document, names, ends; ARGV key. */
const REMOVE = `
  redis.call('DEL', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
`;

/** KEYS names, ends; ARGV time, least, most. */
const LIST = `${NOW}
  local found = {}
  for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], ARGV[2], ARGV[3])) do
    local ends = redis.call('ZSCORE', KEYS[2], key)
    if ends and tonumber(ends) > now then found[#found + 1] = key end
  end
  return found
`;

/** KEYS lease; ARGV time, owner, milliseconds. */
const CLAIM = `${NOW}
  local held = redis.call('HMGET', KEYS[1], 'owner', 'until')
  if held[1] and held[1] ~= ARGV[2] and tonumber(held[2]) > now then return 0 end
  redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'until', string.format('%.0f', now + tonumber(ARGV[3])))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return 1
`;

/** KEYS lease; ARGV owner. */
const RELEASE = `
  if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('DEL', KEYS[1]) end
`;

const texts = z.array(z.string());
const document = (key: string): string => `${PREFIX}document:${key}`;
const lease = (key: string): string => `${PREFIX}lease:${key}`;

/**
 * Opens the documents.
 *
 * @param url - `redis://…` or `rediss://…`
 * @param now - milliseconds since the epoch; the server's clock when absent
 * @param onError - called with every lost connection
 */
export function openRedisDocuments(
  url: string,
  now: (() => number) | undefined,
  onError: (error: unknown) => void,
): LeasedDocumentStore {
  const redis = openRedis(url, onError);
  const time = () => timeArgument(now);
  return {
    shared: true,
    async get(key, known) {
      const reply = await redis.run(GET, [document(key)], [time(), known === undefined ? '' : String(known)]);
      const [version, text] = texts.parse(reply);
      if (version === undefined) return null;
      return text === undefined ? 'same' : { text, version: Number(version) };
    },
    async put(key, text, { expected, expiresAt }) {
      const version = z
        .number()
        .parse(
          await redis.run(
            PUT,
            [document(key), NAMES, ENDS],
            [time(), key, text, String(expiresAt), expected === undefined ? '' : String(expected)],
          ),
        );
      return version === 0 ? null : version;
    },
    async remove(key) {
      await redis.run(REMOVE, [document(key), NAMES, ENDS], [key]);
    },
    async keys(prefix) {
      return texts.parse(
        await redis.run(LIST, [NAMES, ENDS], [time(), `[${prefix}`, `(${prefix}\u{10ffff}`]),
      );
    },
    async claim(key, owner, milliseconds) {
      return (await redis.run(CLAIM, [lease(key)], [time(), owner, String(Math.ceil(milliseconds))])) === 1;
    },
    async release(key, owner) {
      await redis.run(RELEASE, [lease(key)], [owner]);
    },
    close: () => redis.close(),
  };
}
