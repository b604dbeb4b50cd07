// Reads the gateway's API keys: one key, or a name and a key, per line. No error message contains
// one.
import { readFileSync } from 'node:fs';

export interface GatewayKey {
  /**
   * The owner. Keys with the same name are one caller, which keeps its batches when it changes its
   * key.
   */
  readonly name: string | null;
  readonly key: string;
}

/** Guessing a key of so many characters is hopeless, however often it is tried. */
const MIN_KEY_CHARACTERS = 16;
const ADVICE = 'make one with `openssl rand -hex 24`';

/** Reads `KEY` or `NAME KEY`. @returns null for anything else */
export function readKey(text: string): GatewayKey | null {
  const [first, second, ...more] = text.trim().split(/\s+/);
  if (first === undefined || first === '' || more.length > 0) return null;
  return second === undefined ? { name: null, key: first } : { name: first, key: second };
}

/**
 * The fault of a key, such as being easily guessed or used twice, as the rest of a sentence; null
 * for a valid key.
 *
 * @param names - of the keys before it; its own is added
 */
export function checkKey({ key, name }: GatewayKey, names: Map<string, string | null>): string | null {
  if (key.length < MIN_KEY_CHARACTERS)
    return `has ${key.length} character(s) and needs at least ${MIN_KEY_CHARACTERS}: ${ADVICE}`;
  if (!/^[!-~]+$/.test(key))
    return `has characters beyond ASCII, which clients send in different ways: ${ADVICE}`;
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
