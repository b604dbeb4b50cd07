// Access by secrets, compared in constant time. The gateway's API keys: one key, or a name and a key, per
// line, reloaded when their file changes; no error message contains a key. The metrics, with METRICS_TOKEN
// or, without one in production, from loopback only; the federation router, with FEDERATION_TOKEN.
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { forwardingHeader, isLoopback } from './node-request.ts';

export interface GatewayKey {
  /**
   * The owner; keys with the same name are one caller, so that a key can be rotated without losing
   * its batches.
   */
  readonly name: string | null;
  readonly key: string;
}

/** Reads `KEY` or `NAME KEY`. @returns null for anything else */
export function readKey(text: string): GatewayKey | null {
  const [first, second, ...more] = text.trim().split(/\s+/);
  if (first === undefined || first === '' || more.length > 0) return null;
  return second === undefined ? { name: null, key: first } : { name: first, key: second };
}

/** Characters of a key at least: guessing one of so many is hopeless, however often it is tried. */
const SHORTEST_KEY = 16;
const MADE_BY = 'make one with `openssl rand -hex 24`';

/**
 * What is wrong with a key, too easily guessed or of two callers, as the rest of a sentence; else null.
 *
 * @param names - of the keys before it; its own is added
 */
export function checkKey({ key, name }: GatewayKey, names: Map<string, string | null>): string | null {
  if (key.length < SHORTEST_KEY)
    return `has ${key.length} character(s) and needs at least ${SHORTEST_KEY}: ${MADE_BY}`;
  if (!/^[!-~]+$/.test(key))
    return `has characters beyond ASCII, which clients send in different ways: ${MADE_BY}`;
  if (names.has(key) && names.get(key) !== name) return 'is listed under another name too';
  names.set(key, name);
  return null;
}

/**
 * Reads a file of keys, one per line; empty lines and `#` comments are skipped.
 *
 * @param others - keys that are not in the file
 * @throws Error with the file and the line for an unreadable file, a malformed line, a key that
 *   `checkKey` refuses, or no key at all
 */
export function readKeyFile(file: string, others: readonly GatewayKey[]): GatewayKey[] {
  const keys: GatewayKey[] = [];
  const names = new Map(others.map(({ key, name }) => [key, name]));
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    const key = readKey(line);
    if (key === null) throw new Error(`${file}, line ${index + 1}: write one key, or a name and a key`);
    const fault = checkKey(key, names);
    if (fault !== null) throw new Error(`${file}, line ${index + 1}: this key ${fault}`);
    keys.push(key);
  }
  if (keys.length === 0) throw new Error(`${file} holds no key`);
  return keys;
}

export interface ApiKeysOptions {
  readonly keys: readonly GatewayKey[];
  readonly file: string | undefined;
  /** How often the file is looked at. */
  readonly everyMs?: number;
  readonly onError: (error: unknown) => void;
}

interface Held {
  readonly key: GatewayKey;
  readonly digest: Buffer;
}

const hold = (keys: readonly GatewayKey[]): Held[] => keys.map((key) => ({ key, digest: sha256(key.key) }));

/**
 * Opens the keys.
 *
 * @throws Error when the file cannot be read at the start
 */
export function openApiKeys(options: ApiKeysOptions) {
  const { keys, file, everyMs = 2_000, onError } = options;
  let held = hold(file === undefined ? keys : [...keys, ...readKeyFile(file, keys)]);
  let trouble = '';

  function reload(): void {
    if (file === undefined) return;
    try {
      held = hold([...keys, ...readKeyFile(file, keys)]);
      trouble = '';
    } catch (error) {
      // Told once, however often it is looked at.
      if (String(error) !== trouble) onError(error);
      trouble = String(error);
    }
  }

  // Read by its path, not followed by its inode: secrets that are mounted are replaced as a whole.
  const looking = file === undefined ? undefined : setInterval(reload, everyMs).unref();
  return {
    /**
     * Finds the given key. Compares all keys, each in constant time, so that the duration reveals
     * nothing.
     */
    find(given: string): GatewayKey | undefined {
      const digest = sha256(given);
      return held.filter((one) => timingSafeEqual(one.digest, digest)).at(0)?.key;
    },
    /**
     * Reloads the file. When it is missing or invalid, the keys stay as they are and an error is
     * logged.
     */
    reload,
    close: () => clearInterval(looking),
  };
}

export interface MetricsAccess {
  readonly token: string | undefined;
  /**
   * Whether all clients may read when there is no token: in development, and on a separate port.
   */
  readonly open: boolean;
}

/**
 * @param headers - of the request
 * @param remote - the connection's address; undefined when unknown
 * @returns the status of a refusal; undefined when the client may read
 */
export function refuseMetrics(
  { token, open }: MetricsAccess,
  headers: IncomingHttpHeaders,
  remote: string | undefined,
): 401 | 403 | undefined {
  if (token !== undefined) {
    const given = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    return timingSafeEqualSecret(given, token) ? undefined : 401;
  }
  if (open) return undefined;
  // The loopback address may be that of a proxy.
  return isLoopback(remote) && forwardingHeader(headers) === undefined ? undefined : 403;
}

/** What a client is told that may not read the metrics. */
export const METRICS_REFUSALS = {
  401: 'The metrics need METRICS_TOKEN in the header `Authorization`, after the word `Bearer`.',
  403: 'Without METRICS_TOKEN or METRICS_PORT only this machine itself may read the metrics.',
};

/** @param secret - FEDERATION_TOKEN; without it no request is the router's */
export function isFederationRouter(request: Request, secret: string | undefined): boolean {
  const given = request.headers.get('x-federation-token');
  return secret !== undefined && given !== null && timingSafeEqualSecret(given, secret);
}

/** A secret as something of one length, whatever its own. */
const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether the given text is the secret, in constant time. */
const timingSafeEqualSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(sha256(given), sha256(secret));
