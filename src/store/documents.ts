// Small documents that processes share: versioned (optimistic locking), with a lifetime. A document
// that only one process can create is also a lease.
import * as z from 'zod';
import type { OpenStoreOptions } from './ledger/open-ledger.ts';
import { createReplication } from './ledger/replication.ts';
import { NOW, openRedis, timeArgument } from './redis-connection.ts';
import { createSqliteStore, openDatabase, orInMemory, sqlitePath } from './sqlite-file.ts';

/** A document as it was read. */
export interface VersionedDocument {
  readonly text: string;
  /** Grows by one with every write. */
  readonly version: number;
}

/** When a document may be written, and how long it stays. */
export interface PutOptions {
  /**
   * Write only when the document has this version (0: does not exist); unconditionally when absent.
   */
  readonly expected?: number;
  /** The document is gone after so many milliseconds, by the clock of the store; 0 deletes it. */
  readonly lifetimeMs: number;
  /** Whether `keys` must find it. */
  readonly isListed?: boolean;
  /** Whether neither a power cut nor a failover may take it back. */
  readonly isDurable?: boolean;
}

/** A store of documents. Every replica that shares it sees the same. */
export interface DocumentStore {
  /** Whether other processes may write here too. */
  readonly isShared: boolean;
  /** A document; null when there is none, `same` when its version is still `known`. */
  get(key: string, known?: number): Promise<VersionedDocument | null | 'same'>;
  /** Writes a document. @returns its version; null when another one than expected stood there */
  put(key: string, text: string, options: PutOptions): Promise<number | null>;
  /** The keys of listed documents that begin with a text. */
  keys(start: string): Promise<string[]>;
  close(): Promise<void>;
}

// The ledger may use the same file. These tables never change their columns, so they need no
// version number.
const TABLES = `
  CREATE TABLE IF NOT EXISTS document (
    key TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS document_expires ON document (expires_at);
`;
const SWEEP_INTERVAL_MS = 60_000;

const versionRow = z.object({ version: z.number() });
const documentRow = versionRow.extend({ text: z.string() });
const keyRow = z.object({ key: z.string() });

function openSqliteDocuments(file: string, now: () => number = Date.now): DocumentStore {
  // A poll's snapshot that a power cut takes away is polled again: no need to wait for the disk.
  const sql = createSqliteStore(
    openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' }, (database) => database.exec(TABLES)),
  );
  let sweptAt = Number.NEGATIVE_INFINITY;

  function sweep(): void {
    if (Math.abs(now() - sweptAt) < SWEEP_INTERVAL_MS) return;
    sweptAt = now();
    sql.run('DELETE FROM document WHERE expires_at <= ?', now());
  }
  /** The version of a document; 0 where there is none. @param latest - when it must have expired */
  function currentVersion(key: string, latest = Number.MAX_SAFE_INTEGER): number {
    const row = sql.get(
      'SELECT version FROM document WHERE key = ? AND expires_at > ? AND expires_at <= ?',
      ...[key, now(), latest],
    );
    return row === undefined ? 0 : versionRow.parse(row).version;
  }

  return {
    isShared: file !== ':memory:',
    async get(key, known) {
      if (known !== undefined && currentVersion(key) === known) return 'same';
      const row = sql.get('SELECT text, version FROM document WHERE key = ? AND expires_at > ?', key, now());
      return row === undefined ? null : documentRow.parse(row);
    },
    put: (key, text, { expected, lifetimeMs, isDurable }) =>
      sql.write(() => {
        sweep();
        const expiresAt = now() + lifetimeMs;
        // A lease that ends later than a new one would was taken before the clock was set back.
        const version = currentVersion(key, expected === 0 ? expiresAt : undefined);
        if (expected !== undefined && expected !== version) return null;
        if (lifetimeMs === 0) sql.run('DELETE FROM document WHERE key = ?', key);
        else
          sql.run('INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?)', key, text, version + 1, expiresAt);
        return version + 1;
      }, isDurable),
    async keys(start) {
      // No key has the last character of Unicode.
      const inRange = 'key >= ?1 AND key < ?1 || char(0x10ffff) AND expires_at > ?2';
      const rows = sql.all(`SELECT key FROM document WHERE ${inRange}`, start, now());
      return rows.map((row) => keyRow.parse(row).key);
    },
    async close() {
      sql.close();
    },
  };
}

/** The start of each key in Redis. */
const PREFIX = 'foldatlas:documents:1:';

/** KEYS document; ARGV time, known version or nothing. */
const GET = `${NOW}
  local found = redis.call('HMGET', KEYS[1], 'version', 'until')
  if not found[1] or tonumber(found[2]) <= now then return {} end
  if found[1] == ARGV[2] then return { found[1] } end
  return { found[1], redis.call('HGET', KEYS[1], 'text') }
`;

/** KEYS document, list; ARGV time, text, lifetime, expected version and key to list, or nothing. */
const PUT = `${NOW}
  local found = redis.call('HMGET', KEYS[1], 'version', 'until')
  local version = 0
  if found[1] and tonumber(found[2]) > now then version = tonumber(found[1]) end
  -- A lease that ends later than a new one would was taken before the clock was set back.
  if ARGV[4] == '0' and version > 0 and tonumber(found[2]) > now + tonumber(ARGV[3]) then version = 0 end
  if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= version then return 0 end
  local till = string.format('%.0f', now + tonumber(ARGV[3]))
  redis.call('HSET', KEYS[1], 'text', ARGV[2], 'version', version + 1, 'until', till)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  if ARGV[5] ~= '' then redis.call('SADD', KEYS[2], ARGV[5]) end
  return version + 1
`;

/** KEYS list; ARGV time, start of keys. Keys of documents that are gone leave the list. */
const KEYS = `${NOW}
  local found = {}
  for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
    local till = redis.call('HGET', '${PREFIX}document:' .. key, 'until')
    if not till or tonumber(till) <= now then redis.call('SREM', KEYS[1], key)
    elseif string.sub(key, 1, #ARGV[2]) == ARGV[2] then table.insert(found, key) end
  end
  return found
`;

const texts = z.array(z.string());
const redisKey = (key: string): string => `${PREFIX}document:${key}`;
const LIST = `${PREFIX}list`;

interface OpenDocumentsOptions extends OpenStoreOptions {
  /** Whether a durable write counts only where a replica has it. */
  readonly needsReplica?: () => boolean;
}

/** @param now - milliseconds since the epoch; the server's clock when absent */
function openRedisDocuments(
  url: string,
  now: (() => number) | undefined,
  onError: (error: unknown) => void,
  needsReplica: () => boolean,
): DocumentStore {
  const redis = openRedis(url, onError);
  const replication = createReplication(redis);
  const time = () => timeArgument(now);
  return {
    isShared: true,
    async get(key, known) {
      const reply = await redis.run(GET, [redisKey(key)], [time(), known === undefined ? '' : String(known)]);
      const [version, text] = texts.parse(reply);
      if (version === undefined) return null;
      return text === undefined ? 'same' : { text, version: Number(version) };
    },
    async put(key, text, { expected, lifetimeMs, isListed = false, isDurable = false }) {
      const wanted = expected === undefined ? '' : String(expected);
      const argv = [time(), text, String(lifetimeMs), wanted, isListed ? key : ''];
      const write = () => redis.run(PUT, [redisKey(key), LIST], argv);
      replication.isRequired = needsReplica();
      const version = z.number().parse(await (isDurable ? replication.write(write) : write()));
      return version === 0 ? null : version;
    },
    async keys(start) {
      return texts.parse(await redis.run(KEYS, [LIST], [time(), start]));
    },
    close: () => redis.close(),
  };
}

/**
 * Opens the documents.
 *
 * @param storeUrl - `sqlite:PATH` (creates a missing folder), `memory:`, `redis://…` or
 *   `rediss://…`
 * @param options.needsReplica - as the ledger says of the same store; without it a durable write
 *   waits for the replicas that are connected
 */
export const openDocuments = (
  storeUrl: string,
  { now, onError = () => undefined, needsReplica = () => false }: OpenDocumentsOptions = {},
): DocumentStore =>
  /^rediss?:\/\//.test(storeUrl)
    ? openRedisDocuments(storeUrl, now, onError, needsReplica)
    : orInMemory(sqlitePath(storeUrl) ?? ':memory:', (file) => openSqliteDocuments(file, now));
