// The interface of small documents that processes share: versioned (optimistic locking), with an
// expiry, and with leases, so that one process at a time works on a document.
import * as z from 'zod';
import type { OpenStoreOptions } from './ledger/open-ledger.ts';
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
  /** Milliseconds since the epoch; the document is gone from then on. */
  readonly expiresAt: number;
}

/** A store of documents. Every replica that shares it sees the same. */
export interface LeasedDocumentStore {
  /** Whether other processes may write here too. */
  readonly isShared: boolean;
  /** A document; null when there is none, `same` when its version is still `known`. */
  get(key: string, known?: number): Promise<VersionedDocument | null | 'same'>;
  /** Writes a document. @returns its version; null when another one than expected stood there */
  put(key: string, text: string, options: PutOptions): Promise<number | null>;
  /**
   * Takes or renews a lease. One key always uses the same duration.
   *
   * @returns false when another owner holds it
   */
  claim(key: string, owner: string, milliseconds: number): Promise<boolean>;
  /** Releases a lease of this owner; another owner's stays. */
  release(key: string, owner: string): Promise<void>;
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
  CREATE TABLE IF NOT EXISTS lease (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
const SWEEP_INTERVAL_MS = 60_000;

const versionRow = z.object({ version: z.number() });
const documentRow = versionRow.extend({ text: z.string() });

function openSqliteDocuments(file: string, now: () => number = Date.now): LeasedDocumentStore {
  // A poll's snapshot that a power cut takes away is polled again: no need to wait for the disk.
  const sql = createSqliteStore(
    openDatabase(file, { busyMs: 10_000, synchronous: 'NORMAL' }, (database) => database.exec(TABLES)),
  );
  let sweptAt = Number.NEGATIVE_INFINITY;

  function sweep(): void {
    if (performance.now() - sweptAt < SWEEP_INTERVAL_MS) return;
    sweptAt = performance.now();
    sql.run('DELETE FROM document WHERE expires_at <= ?', now());
    sql.run('DELETE FROM lease WHERE until <= ?', now());
  }
  /** The version of a document; 0 where there is none. */
  function currentVersion(key: string): number {
    const row = sql.get('SELECT version FROM document WHERE key = ? AND expires_at > ?', key, now());
    return row === undefined ? 0 : versionRow.parse(row).version;
  }

  return {
    isShared: file !== ':memory:',
    async get(key, known) {
      if (known !== undefined && currentVersion(key) === known) return 'same';
      const row = sql.get('SELECT text, version FROM document WHERE key = ? AND expires_at > ?', key, now());
      return row === undefined ? null : documentRow.parse(row);
    },
    put: (key, text, { expected, expiresAt }) =>
      sql.write(() => {
        sweep();
        const version = currentVersion(key);
        if (expected !== undefined && expected !== version) return null;
        sql.run('INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?)', key, text, version + 1, expiresAt);
        return version + 1;
      }),
    claim: (key, owner, milliseconds) =>
      // A lease that ends later than a new one would was taken before the clock was set back.
      sql.write(
        () =>
          sql.run(
            `INSERT INTO lease (key, owner, until) VALUES (?1, ?2, ?3)
             ON CONFLICT (key) DO UPDATE SET owner = ?2, until = ?3
             WHERE owner = ?2 OR until <= ?4 OR until > ?3`,
            ...[key, owner, now() + milliseconds, now()],
          ) === 1,
      ),
    async release(key, owner) {
      await sql.write(() => sql.run('DELETE FROM lease WHERE key = ? AND owner = ?', key, owner));
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

/** KEYS document; ARGV time, text, end, expected version or nothing. */
const PUT = `${NOW}
  local found = redis.call('HMGET', KEYS[1], 'version', 'until')
  local version = 0
  if found[1] and tonumber(found[2]) > now then version = tonumber(found[1]) end
  if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= version then return 0 end
  redis.call('HSET', KEYS[1], 'text', ARGV[2], 'version', version + 1, 'until', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], math.ceil(tonumber(ARGV[3]) - now))
  return version + 1
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

/** @param now - milliseconds since the epoch; the server's clock when absent */
function openRedisDocuments(
  url: string,
  now: (() => number) | undefined,
  onError: (error: unknown) => void,
): LeasedDocumentStore {
  const redis = openRedis(url, onError);
  const time = () => timeArgument(now);
  return {
    isShared: true,
    async get(key, known) {
      const reply = await redis.run(GET, [document(key)], [time(), known === undefined ? '' : String(known)]);
      const [version, text] = texts.parse(reply);
      if (version === undefined) return null;
      return text === undefined ? 'same' : { text, version: Number(version) };
    },
    async put(key, text, { expected, expiresAt }) {
      const argv = [time(), text, String(expiresAt), expected === undefined ? '' : String(expected)];
      const version = z.number().parse(await redis.run(PUT, [document(key)], argv));
      return version === 0 ? null : version;
    },
    async claim(key, owner, milliseconds) {
      return (await redis.run(CLAIM, [lease(key)], [time(), owner, String(milliseconds)])) === 1;
    },
    async release(key, owner) {
      await redis.run(RELEASE, [lease(key)], [owner]);
    },
    close: () => redis.close(),
  };
}

/**
 * Opens the documents.
 *
 * @param storeUrl - `sqlite:PATH` (creates a missing folder), `memory:`, `redis://…` or
 *   `rediss://…`
 */
export const openDocuments = (
  storeUrl: string,
  { now, onError = () => undefined }: OpenStoreOptions = {},
): LeasedDocumentStore =>
  /^rediss?:\/\//.test(storeUrl)
    ? openRedisDocuments(storeUrl, now, onError)
    : orInMemory(sqlitePath(storeUrl) ?? ':memory:', (file) => openSqliteDocuments(file, now));
