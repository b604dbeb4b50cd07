// One connection to Redis or Valkey, opened in the background and again when it is lost. Every
// command of ours succeeds or fails within two seconds.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { RedisClientType } from '@redis/client';
import { type Clock, systemClock } from '../async/clock.ts';
import { withTimeout } from '../async/deadline.ts';
import { OperationalError } from '../async/operational-error.ts';
import type { StoreUsage } from './ledger/ledger.ts';

/** Milliseconds that a command may take, connecting included. */
const COMMAND_TIMEOUT_MS = 2_000;
/** Shorter than a command's time limit, so that the error is the failure to connect. */
const CONNECT_TIMEOUT_MS = 1_500;
const MAX_RECONNECT_MS = 2_000;
/** Commands that may wait for an answer; more are refused at once. */
const MAX_QUEUED_COMMANDS = 10_000;

/** A store that does not answer, or refuses. Its message is for operators: it names the place. */
export class StoreError extends OperationalError {}

export interface RedisConnection {
  /**
   * For libraries that send their own commands. While the connection is lost, these fail at once.
   */
  readonly client: RedisClientType;
  /**
   * Sends one command.
   *
   * @throws StoreError when the store does not answer in time or refuses. The command may still
   *   have been carried out.
   */
  send(...command: string[]): Promise<unknown>;
  /**
   * Runs a Lua script atomically. Sends its text only to a server without it.
   *
   * @throws StoreError
   */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** How many times a connection was established. */
  readonly connectionCount: number;
  /** Waits until the connection is established, or has failed once. */
  connected(): Promise<void>;
  /**
   * Opens the connection anew. A lost host may never answer on the old one; and when a primary has
   * become a replica, its name may lead to the new primary.
   */
  reconnect(): void;
  /** Waits for pending commands, then disconnects. */
  close(): Promise<void>;
}

/** Loaded on first use: 400 modules, a tenth of the start-up time. */
const loadClient = () => createRequire(import.meta.url)('@redis/client') as typeof import('@redis/client');

/** Time, randomness and the client of a connection. The simulator gives others. */
export interface RedisPlatform {
  readonly clock: Pick<Clock, 'after' | 'random'>;
  /** @param reconnectMs - how long to wait after a number of failed tries */
  createClient(url: string, reconnectMs: (tries: number) => number): RedisClientType;
}

const systemPlatform: RedisPlatform = {
  clock: systemClock,
  createClient: (url, reconnectMs) =>
    loadClient().createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
      socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: reconnectMs },
    }) as RedisClientType,
};

/** The URL without its credentials, for messages. */
export const withoutCredentials = (url: string): string => url.replace(/^([^/]*\/\/).*@/, '$1');

function reasonText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's error has no message when every address of a name failed.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message.startsWith('NOSCRIPT');

/**
 * Opens a connection; returns before it is established.
 *
 * @param url - `redis://` or `rediss://`, with user, password and database number where needed
 * @param onError - called once for each loss of the connection
 * @param onReconnected - called after a connection was lost and made again
 */
export function openRedis(
  url: string,
  onError: (error: unknown) => void,
  onReconnected: () => void = () => undefined,
  { clock, createClient }: RedisPlatform = systemPlatform,
): RedisConnection {
  const place = withoutCredentials(url);
  const client = createClient(
    url,
    (tries) => Math.min(50 * 2 ** tries, MAX_RECONNECT_MS) * (0.5 + clock.random() / 2),
  );
  const pending = new Set<Promise<unknown>>();
  const digests = new Map<string, string>();
  let isClosed = false;
  let connectionCount = 0;
  /** Why the connection is lost. */
  let fault: unknown;
  /** Settles when the present connection is established, or has failed once. */
  let connected = Promise.resolve();

  function onFault(error: unknown): void {
    if (isClosed) return;
    if (fault === undefined) onError(new StoreError(`The store ${place} is lost: ${reasonText(error)}`));
    fault = error;
  }
  function connect(): void {
    connected = once(client, 'ready').then(
      () => undefined,
      () => undefined,
    );
    client.connect().catch(onFault);
  }
  client.on('error', onFault);
  client.on('ready', () => {
    connectionCount += 1;
    const wasLost = fault !== undefined;
    fault = undefined;
    if (wasLost) onReconnected();
  });
  connect();

  function reconnect(): void {
    // A connection that is being made is left alone: it has a time limit of its own.
    if (isClosed || !client.isReady) return;
    client.destroy();
    connect();
  }

  function giveUp(): never {
    const error = new Error(`no answer within ${COMMAND_TIMEOUT_MS} ms`);
    onFault(error);
    reconnect();
    throw error;
  }

  async function ask(command: readonly string[]): Promise<unknown> {
    if (isClosed) throw new StoreError(`The store ${place} is closed.`);
    const answer = connected.then(() => client.sendCommand(command));
    try {
      return await withTimeout(answer, COMMAND_TIMEOUT_MS, giveUp, clock);
    } catch (error) {
      // That the client is offline says less than why.
      const cause = error instanceof loadClient().ErrorReply ? error : (fault ?? error);
      if (reasonText(cause).includes('READONLY')) reconnect();
      throw new StoreError(`The store ${place} failed: ${reasonText(cause)}`, { cause });
    }
  }

  async function runScript(script: string, args: readonly string[]): Promise<unknown> {
    const digest = digests.get(script) ?? createHash('sha1').update(script).digest('hex');
    digests.set(script, digest);
    try {
      return await ask(['EVALSHA', digest, ...args]);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return ask(['EVAL', script, ...args]);
    }
  }

  function track(call: Promise<unknown>): Promise<unknown> {
    pending.add(call);
    const end = () => pending.delete(call);
    call.then(end, end);
    return call;
  }

  return {
    client,
    send: (...command) => track(ask(command)),
    run: (script, keys, args) => track(runScript(script, [String(keys.length), ...keys, ...args])),
    get connectionCount() {
      return connectionCount;
    },
    connected: () => connected,
    reconnect,
    async close() {
      await Promise.allSettled(pending);
      isClosed = true;
      client.unref();
      if (client.isOpen) client.destroy();
    },
  };
}

/**
 * Start of a script: sets `now` (milliseconds since the epoch) from ARGV[1] or the server's clock.
 */
export const NOW = `
  local now = tonumber(ARGV[1])
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
`;

/** The first argument of such a script. */
export const timeArgument = (now: (() => number) | undefined): string =>
  now === undefined ? '' : String(now());

/** A field of INFO, such as `used_memory:1024`; undefined where the line is missing. */
const infoField = (info: string, name: string): string | undefined =>
  info
    .split(/\r?\n/)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1);

/** Asks the server how much of its memory it uses. @throws Error when it does not say */
export async function readMemoryUsage(redis: RedisConnection): Promise<StoreUsage> {
  const info = String(await redis.send('INFO', 'memory'));
  const usedBytes = Number(infoField(info, 'used_memory'));
  const limit = Number(infoField(info, 'maxmemory') ?? 0);
  if (!Number.isFinite(usedBytes) || !Number.isFinite(limit))
    throw new Error('The store does not say how much memory it uses.');
  const policy = infoField(info, 'maxmemory_policy') ?? 'noeviction';
  return { usedBytes, limitBytes: limit === 0 ? null : limit, evicts: policy !== 'noeviction' && limit > 0 };
}
