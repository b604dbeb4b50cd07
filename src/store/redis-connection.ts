// One connection to Redis or Valkey, opened in the background and again when it is lost. Every
// command succeeds or fails within two seconds.

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { withTimeout } from '../async/deadline.ts';
import type { StoreUsage } from './ledger/ledger.ts';

/** Milliseconds that a command may take, connecting included. */
const COMMAND_MS = 2_000;
/** Shorter than a command's time limit, so that the error is the failure to connect. */
const CONNECT_MS = 1_500;
const MAX_RETRY_MS = 2_000;
/** Commands that may wait for an answer; more are refused at once. */
const MAX_QUEUED_COMMANDS = 10_000;
/** RESP's type of a string of bytes. */
const BLOB_STRING = 36;

/**
 * The client: 400 modules, a tenth of the start-up time, which a gateway without Redis never loads.
 */
const redis = () => createRequire(import.meta.url)('@redis/client') as typeof import('@redis/client');

/** A store that does not answer, or refuses. Its message is for operators: it names the place. */
export class StoreError extends Error {}

/** The URL without its credentials, for messages. */
const placeOf = (url: string): string => url.replace(/^([^/]*\/\/).*@/, '$1');

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // What Node throws when every address of a name failed has no message of its own.
  return error.message || ('code' in error ? String(error.code) : error.name);
};

const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message.startsWith('NOSCRIPT');

type Command = readonly (string | Buffer)[];

function openLink(url: string, asBytes: boolean, onFault: (error: unknown) => void, onReady: () => void) {
  const client = redis().createClient({
    url,
    ...(asBytes ? { commandOptions: { typeMapping: { [BLOB_STRING]: Buffer } } } : {}),
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, MAX_RETRY_MS) * (0.5 + Math.random() / 2),
    },
  });
  // Commands sent before the first connection wait until it succeeds or fails.
  const settled = new Promise<void>((resolve) => {
    client.once('ready', resolve);
    client.once('error', () => resolve());
  });
  client.on('error', onFault);
  client.on('ready', onReady);
  client.connect().catch(onFault);
  return {
    async send(command: Command): Promise<unknown> {
      await settled;
      return client.sendCommand(command);
    },
    end() {
      client.unref();
      if (client.isOpen) client.destroy();
    },
  };
}

interface RedisOptions {
  /** Whether answers hold a Buffer in place of a text. */
  readonly asBytes?: boolean;
  /** Called after a connection was lost and made again. */
  readonly onReconnected?: () => void;
}

/**
 * Opens a connection; returns before it is established.
 *
 * @param url - `redis://` or `rediss://`, with user, password and database number where needed
 * @param onError - called once for each loss of the connection
 */
export function openRedis(
  url: string,
  onError: (error: unknown) => void,
  { asBytes = false, onReconnected }: RedisOptions = {},
) {
  const place = placeOf(url);
  let fault: unknown;
  let closed = false;
  const pending = new Set<Promise<unknown>>();
  const digests = new Map<string, string>();

  const onFault = (error: unknown) => {
    if (closed) return;
    if (fault === undefined) onError(new Error(`The store ${place} is lost: ${reasonOf(error)}`));
    fault = error;
  };
  const open = () =>
    openLink(url, asBytes, onFault, () => {
      const isReconnected = fault !== undefined;
      fault = undefined;
      if (isReconnected) onReconnected?.();
    });
  let link = open();

  /** A lost host may never answer on this connection: the next command gets a new one. */
  const renew = (stalled: typeof link): void => {
    if (closed || link !== stalled) return;
    link = open();
    stalled.end();
  };

  async function ask(command: Command): Promise<unknown> {
    if (closed) throw new Error(`The store ${place} is closed.`);
    const used = link;
    const onTimeout = (): never => {
      const error = new Error(`no answer within ${COMMAND_MS} ms`);
      onFault(error);
      renew(used);
      throw error;
    };
    try {
      return await withTimeout(used.send(command), COMMAND_MS, onTimeout);
    } catch (error) {
      // That it is offline says less than why.
      const cause = error instanceof redis().ErrorReply ? error : (fault ?? error);
      // A server that has become a replica keeps its connections; its name may lead to the new primary.
      if (reasonOf(cause).includes('READONLY')) renew(used);
      throw new StoreError(`The store ${place} failed: ${reasonOf(cause)}`, { cause });
    }
  }

  async function runScript(script: string, args: string[]): Promise<unknown> {
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
    /**
     * Sends one command.
     *
     * @throws Error that names the store (never its password) when it does not answer in time or
     *   refuses. The command may still have been carried out.
     */
    send: (...command: Command) => track(ask(command)),
    /**
     * Runs a Lua script atomically. Sends its text only to a server without it (EVALSHA, then EVAL).
     */
    run: (script: string, keys: readonly string[], args: readonly string[]) =>
      track(runScript(script, [String(keys.length), ...keys, ...args])),
    /** Lets what is under way end, then disconnects. */
    async close() {
      await Promise.allSettled(pending);
      closed = true;
      link.end();
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

/** Reads `used_memory:1024`; undefined where the line is missing. */
const fieldOf = (info: string, name: string): string | undefined =>
  info
    .split(/\r?\n/)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1);

/** @throws Error when the answer has no numbers in it */
export function readUsage(info: string): StoreUsage {
  const usedBytes = Number(fieldOf(info, 'used_memory'));
  const limit = Number(fieldOf(info, 'maxmemory') ?? 0);
  if (!Number.isFinite(usedBytes) || !Number.isFinite(limit))
    throw new Error('The store does not say how much memory it uses.');
  const policy = fieldOf(info, 'maxmemory_policy') ?? 'noeviction';
  return { usedBytes, limitBytes: limit === 0 ? null : limit, evicts: policy !== 'noeviction' && limit > 0 };
}
