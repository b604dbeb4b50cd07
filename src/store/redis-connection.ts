// One connection to Redis or Valkey: made in the background, made again when it is lost, and never waited for: every command
// is answered or has failed within two seconds. It must not know what is kept there.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { withTimeout } from '../async/timeout.ts';

/** Milliseconds that a command may take, connecting included. */
const COMMAND_MS = 2_000;
/** Shorter than a command's time, so that a failure to connect is told as such. */
const CONNECT_MS = 1_500;
const SLOWEST_RETRY_MS = 2_000;
/** Commands that may wait for an answer; more are refused at once. */
const MOST_WAITING = 10_000;

export interface RedisConnection {
  /**
   * Sends one command.
   *
   * @throws Error that names the store (never its password) when there is no answer in time, or a refusal. The command may
   *   have been carried out all the same.
   */
  send(...command: string[]): Promise<unknown>;
  /** Runs a Lua script atomically. Its text is sent only when the server does not have it yet (EVALSHA, then EVAL). */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Lets what is under way end, then disconnects. */
  close(): Promise<void>;
}

/** The client, 400 modules that a gateway without Redis never loads: they took a tenth of its start. */
const redis = () => createRequire(import.meta.url)('@redis/client') as typeof import('@redis/client');

/** The URL without its credentials, for messages. */
const placeOf = (url: string): string => url.replace(/^([^/]*\/\/).*@/, '$1');

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // What Node throws when every address of a name failed has no message of its own.
  return error.message || ('code' in error ? String(error.code) : error.name);
};

const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message.startsWith('NOSCRIPT');

function openLink(url: string, onFault: (error: unknown) => void, onReady: () => void) {
  const client = redis().createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MOST_WAITING,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, SLOWEST_RETRY_MS) * (0.5 + Math.random() / 2),
    },
  });
  // What is asked before the first connection stands waits for it, or for the word that it failed.
  const settled = new Promise<void>((resolve) => {
    client.once('ready', resolve);
    client.once('error', () => resolve());
  });
  client.on('error', onFault);
  client.on('ready', onReady);
  client.connect().catch(onFault);
  return {
    async send(command: string[]): Promise<unknown> {
      await settled;
      return client.sendCommand(command);
    },
    end() {
      client.unref();
      if (client.isOpen) client.destroy();
    },
  };
}

/**
 * Opens a connection; returns before it stands.
 *
 * @param url - `redis://` or `rediss://`, with user, password and database number where needed
 * @param onError - told once of each loss of the connection
 */
export function openRedis(url: string, onError: (error: unknown) => void): RedisConnection {
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
    openLink(url, onFault, () => {
      fault = undefined;
    });
  let link = open();

  /** A server that does not answer may never do so on this connection (a lost host says nothing): the next command gets a new one. */
  const renew = (stalled: typeof link): void => {
    if (closed || link !== stalled) return;
    link = open();
    stalled.end();
  };

  async function ask(command: string[]): Promise<unknown> {
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
      throw new Error(`The store ${place} failed: ${reasonOf(cause)}`, { cause });
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
    send: (...command) => track(ask(command)),
    run: (script, keys, args) => track(runScript(script, [String(keys.length), ...keys, ...args])),
    async close() {
      await Promise.allSettled(pending);
      closed = true;
      link.end();
    },
  };
}
