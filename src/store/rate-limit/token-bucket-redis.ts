// Token buckets in Redis or Valkey, shared by gateways on any number of machines, by the server's
// clock.
import { z } from 'zod';
import { NOW, openRedis } from '../redis-connection.ts';
import { MINUTE_MS, type TokenBucketStore } from './token-bucket.ts';

const PREFIX = 'foldatlas:rate:1:';

/** KEYS bucket; ARGV time, tokens, per minute. The same sum as `takeAt`. */
const TAKE = `${NOW}
  local each = ${MINUTE_MS} / tonumber(ARGV[3])
  local from = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now), now + ${MINUTE_MS})
  local available = math.floor((${MINUTE_MS} - (from - now)) / each + 0.0001)
  local granted = math.max(0, math.min(tonumber(ARGV[2]), available))
  local full = from + granted * each
  local left = math.max(0, available - granted)
  if granted > 0 then
    redis.call('SET', KEYS[1], string.format('%.4f', full), 'PX', math.max(1, math.ceil(full - now)))
  end
  local wait = 0
  if left == 0 then wait = math.max(0, math.ceil(full + each - ${MINUTE_MS} - now)) end
  return { granted, left, wait }
`;

const reply = z.tuple([z.number(), z.number(), z.number()]);

/** Opens the buckets. @param onError - called with every lost connection */
export function openRedisRates(url: string, onError: (error: unknown) => void): TokenBucketStore {
  const redis = openRedis(url, onError);
  return {
    async take({ key, tokens, perMinute }) {
      const answer = await redis.run(TAKE, [PREFIX + key], ['', String(tokens), String(perMinute)]);
      const [granted, left, waitMs] = reply.parse(answer);
      return { granted, left, waitMs };
    },
    close: () => redis.close(),
  };
}
