// The atomic steps of the Redis ledger, in Lua: Redis runs a script alone, and its log holds all of
// its writes or none.
import { NOW } from '../redis-connection.ts';
import { RETENTION_MS } from './ledger.ts';

/** KEYS key; ARGV time. */
export const RENEW = `${NOW}
  if redis.call('HGET', KEYS[1], 'state') == 'pending' then
    redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now))
  end
`;

/**
 * Raises the newest time at which something was written, with every write, to the latest time that
 * the clock may show.
 */
const touch = (key: string, latest: string): string => `
  local newest = math.max(math.min(now, tonumber(${latest})), tonumber(redis.call('GET', ${key}) or '0') + 1)
  newest = string.format('%.0f', newest)
  redis.call('SET', ${key}, newest)`;

/**
 * Each gateway stores the time of its own last write under an id of its own: the newest time shows
 * no loss once others have written. A time whose keys are past their time need not be there.
 */
const OWN = `${NOW}
  local function isThere(key, time)
    time = tonumber(time)
    return time < now - ${RETENTION_MS} or tonumber(redis.call('GET', key) or '0') >= time
  end
  local function keep(key, newest, retention)
    -- The clock may be behind for a moment.
    redis.call('SET', key, newest, 'PX', string.format('%.0f', retention + math.max(0, newest - now)))
  end
`;

/**
 * KEYS key, revoked claim, mark, newest time, the gateway's last write, the key under former names;
 * ARGV time, request hash, token of the claim, retention, mark as it is known, least newest time,
 * how far the newest time may be ahead, latest time, the last write as it is known. Answers the
 * key's entry, of several one that has ended; the newest time when the caller now has the key;
 * nothing when the mark or a time is not as known.
 */
export const CLAIM = `${OWN}
  local best
  for i = 1, #KEYS do
    local entry = (i == 1 or i > 5) and redis.call('HMGET', KEYS[i], 'at', 'state') or {}
    if entry[1] and tonumber(entry[1]) >= now - tonumber(ARGV[4]) and (not best or entry[2] ~= 'pending') then
      best = KEYS[i]
      if entry[2] ~= 'pending' then break end
    end
  end
  if best then
    local fields = redis.call('HGETALL', best)
    fields[#fields + 1] = 'now'
    fields[#fields + 1] = string.format('%.0f', now)
    return fields
  end
  if redis.call('EXISTS', KEYS[2]) == 1 then return redis.error_reply('ERR this claim was given up') end
  local before = tonumber(redis.call('GET', KEYS[4]) or '0')
  if redis.call('GET', KEYS[3]) ~= ARGV[5] or before < tonumber(ARGV[6]) or before > now + tonumber(ARGV[7])
    or now > tonumber(ARGV[8]) or not isThere(KEYS[5], ARGV[9]) then
    return {}
  end
  -- This write comes first: a server without memory refuses it, but not the writes after it.
  redis.call('HSET', KEYS[1],
    'state', 'pending', 'hash', ARGV[2], 'at', string.format('%.0f', now), 'token', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  ${touch('KEYS[4]', 'ARGV[8]')}
  keep(KEYS[5], newest, ARGV[4])
  return newest
`;

/**
 * KEYS key, revoked claim; ARGV token, milliseconds. Frees a key if the claim with this token still
 * stands, and keeps a claim from coming that is still on its way.
 */
export const RELEASE = `
  redis.call('SET', KEYS[2], '', 'PX', ARGV[2])
  local standing = redis.call('HMGET', KEYS[1], 'token', 'state')
  if standing[1] == ARGV[1] and standing[2] == 'pending' then redis.call('DEL', KEYS[1]) end
`;

/**
 * KEYS mark, newest time, the gateway's last write; ARGV time, the last write as it is known.
 * Answers the first two, whether the last is there, and the time.
 */
export const READ_MARK = `${OWN}
  local isKept = isThere(KEYS[3], ARGV[2]) and 1 or 0
  return { redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) or '0', isKept, string.format('%.0f', now) }
`;

/**
 * KEYS mark, newest time; ARGV time, expected mark or nothing, new mark, whether the newest time is
 * reset, latest time.
 */
export const REPLACE_MARK = `${NOW}
  if (redis.call('GET', KEYS[1]) or '') ~= ARGV[2] then return 0 end
  redis.call('SET', KEYS[1], ARGV[3])
  if ARGV[4] ~= '' then redis.call('DEL', KEYS[2]) end
  ${touch('KEYS[2]', 'ARGV[5]')}
  return 1
`;

/**
 * KEYS value of one principal, its name for another one. What stands there already stays; the lists
 * of batches are joined. A pending key stays under the name of before, where it is found: its
 * process ends or renews it there.
 */
export const RENAME = `
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind == 'none' or (kind == 'hash' and redis.call('HGET', KEYS[1], 'state') == 'pending')
    or redis.call('RENAMENX', KEYS[1], KEYS[2]) == 1 then return end
  if kind == 'zset' then redis.call('ZUNIONSTORE', KEYS[2], 2, KEYS[1], KEYS[2]) end
  redis.call('DEL', KEYS[1])
`;

/**
 * Ends a key. One whose claim a failover lost, so that all of these fields are new to it, comes
 * back with the hash of the input, and stays spent.
 */
const endKey = (key: string, fields: readonly string[], inputHash: string): string => `
    if redis.call('HSET', ${key}, ${fields.join(', ')}) == ${fields.length / 2} then
      redis.call('HSET', ${key}, 'hash', ${inputHash}, 'at', string.format('%.0f', now))
      redis.call('PEXPIRE', ${key}, ARGV[2])
    end`;

/**
 * KEYS batch, batches, input, only task, key, newest time, the gateway's last write; ARGV time,
 * retention, time of submission, place among the batches, batch id, batch, whether it has an only
 * task, and a key; latest time, the last write as it is known; items.
 */
export const RECORD = `${OWN}
  local retention, submitted = tonumber(ARGV[2]), tonumber(ARGV[3])
  local ttl = math.max(1, submitted + retention - now)
  local before = redis.call('HGET', KEYS[1], 'place')
  if before then redis.call('ZREM', KEYS[2], before) end
  -- A server without memory refuses no write after this one: the batch is paid.
  redis.call('DEL', KEYS[1])
  local fields = { 'batch', ARGV[6], 'place', ARGV[4] }
  for i = 11, #ARGV do
    fields[#fields + 1] = tostring(i - 11)
    fields[#fields + 1] = ARGV[i]
  end
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('ZREMRANGEBYLEX', KEYS[2], '-', '(' .. string.format('%016.0f', math.max(0, now - retention)))
  redis.call('ZADD', KEYS[2], 0, ARGV[4])
  redis.call('PEXPIRE', KEYS[2], retention)
  local standing = redis.call('HGET', KEYS[3], 'at')
  if not standing or tonumber(standing) <= submitted then
    redis.call('HSET', KEYS[3], 'at', ARGV[3], 'batch', ARGV[5])
    redis.call('PEXPIRE', KEYS[3], ttl)
  end
  if ARGV[7] ~= '' then redis.call('SET', KEYS[4], ARGV[5], 'PX', ttl) end
  if ARGV[8] ~= '' then
    ${endKey('KEYS[5]', ["'state'", "'submitted'", "'batch'", 'ARGV[5]'], 'cjson.decode(ARGV[6]).inputHash')}
  end
  ${touch('KEYS[6]', 'ARGV[9]')}
  -- A loss stays one, also where a submission ends before it is noticed.
  if isThere(KEYS[7], ARGV[10]) then keep(KEYS[7], newest, retention) end
  return newest
`;

/**
 * KEYS input, key, newest time, the gateway's last write; ARGV time, retention, whether it has a
 * key, upstream request id or nothing, hash of the input, latest time, the last write as it is
 * known.
 */
export const RECORD_UNKNOWN = `${OWN}
  redis.call('HSET', KEYS[1], 'at', string.format('%.0f', now), 'batch', '')
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  if ARGV[3] ~= '' then
    ${endKey('KEYS[2]', ["'state'", "'unknown'"], 'ARGV[5]')}
    if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'request', ARGV[4]) end
  end
  ${touch('KEYS[3]', 'ARGV[6]')}
  if isThere(KEYS[4], ARGV[7]) then keep(KEYS[4], newest, ARGV[2]) end
  return newest
`;
