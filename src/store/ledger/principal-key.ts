// The HMAC key that turns tokens into the names of principals, so that a leaked store reveals no
// token. The ledger stores it sealed with GATEWAY_SECRET. Rotating the secret seals the same key
// again, so callers keep their batches and idempotency keys.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { makePrivateFolder, restrict, sqliteFileOf } from '../sqlite-file.ts';
import type { Ledger } from './ledger.ts';
import { openLedger } from './open-ledger.ts';

/** Settings that say where the ledger is and what seals its key. */
export interface LedgerSettings {
  readonly LEDGER_URL: string;
  readonly GATEWAY_SECRET?: string | undefined;
}

/** The ledger's key was sealed with another secret than the one that was given. */
export class WrongSecretError extends Error {}

const CIPHER = 'aes-256-gcm';
const VERSION = '1';
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Each try after the first follows another process that wrote at the same moment. */
const TRIES = 5;

const deriveKey = promisify<string, Buffer, number, Buffer>(scrypt);

/**
 * scrypt, because a secret of 16 characters may be a guessable phrase: some 50 ms for each guess,
 * on a thread of libuv while the gateway's modules are loaded.
 */
const sealingKey = (secret: string, salt: Buffer): Promise<Buffer> => deriveKey(secret, salt, 32);

async function seal(key: string, secret: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, await sealingKey(secret, salt), iv);
  const sealed = Buffer.concat([cipher.update(key, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([salt, iv, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/**
 * @returns null when another secret sealed it
 * @throws Error when damaged or written by a newer gateway
 */
async function unseal(text: string, secret: string): Promise<string | null> {
  const [version, body = ''] = text.split('.');
  const bytes = Buffer.from(body, 'base64url');
  const head = SALT_BYTES + IV_BYTES + TAG_BYTES;
  if (version !== VERSION || bytes.length <= head)
    throw new Error('The key of the ledger is damaged, or was written by a newer gateway.');
  const salt = bytes.subarray(0, SALT_BYTES);
  const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
  const decipher = createDecipheriv(CIPHER, await sealingKey(secret, salt), iv, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(head - TAG_BYTES, head));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(head)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/**
 * Opens the key, and makes it for a ledger that has none yet.
 *
 * @throws WrongSecretError when another secret sealed it
 */
export async function openPrincipalKey(ledger: Ledger, secret: string): Promise<string> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const sealed = await ledger.sealedKey();
    if (sealed !== null) {
      const key = await unseal(sealed, secret);
      if (key !== null) return key;
      throw new WrongSecretError('Another GATEWAY_SECRET sealed the key of this ledger.');
    }
    // In ledgers of versions without a sealed key callers are named by the secret itself.
    const key = (await ledger.isEmpty()) ? randomBytes(32).toString('hex') : secret;
    // Of gateways that start together one writes; the others read what it wrote.
    if (await ledger.sealKey(null, await seal(key, secret))) return key;
  }
  throw new Error('The key of the ledger is written by other processes again and again.');
}

/**
 * Seals the key with another secret. Rows stay as they are, and running gateways go on; they need
 * the new secret when they start again.
 *
 * @returns false when the new secret sealed it already
 * @throws WrongSecretError when neither secret opens it
 */
export async function rotateSecret(ledger: Ledger, current: string, next: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const sealed = await ledger.sealedKey();
    if (sealed !== null && (await unseal(sealed, next)) !== null) return false;
    const key = await openPrincipalKey(ledger, current);
    if (sealed !== null && (await ledger.sealKey(sealed, await seal(key, next)))) return true;
  }
  throw new Error('The key of the ledger is written by other processes again and again.');
}

/**
 * Replaces a key whose secret is lost. No caller finds the records made under the old key any more.
 */
export async function replacePrincipalKey(ledger: Ledger, secret: string): Promise<void> {
  const key = randomBytes(32).toString('hex');
  if (!(await ledger.sealKey(await ledger.sealedKey(), await seal(key, secret))))
    throw new Error('Another process changed the key of the ledger at the same moment. Try again.');
}

/**
 * Reads the key of the ledger that the settings name.
 *
 * @throws WrongSecretError, or Error when the store does not answer
 */
export async function readPrincipalKey(settings: LedgerSettings): Promise<string> {
  const secret = openSecret(settings.LEDGER_URL, settings.GATEWAY_SECRET);
  // A ledger in memory ends with its process, and so does the secret that was made for it.
  if (settings.LEDGER_URL === 'memory:') return secret;
  const ledger = openLedger(settings.LEDGER_URL);
  try {
    return await openPrincipalKey(ledger, secret);
  } finally {
    await ledger.close();
  }
}

/** Writes a file that is then put in its place whole. */
function writeDraft(file: string, text: string): string {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  return draft;
}

/** Creates a file atomically and never replaces one: of processes that start together, one wins. */
function writeOnce(file: string, text: string): void {
  const draft = writeDraft(file, text);
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
}

/** The file of a ledger's secret when none is configured; undefined unless it is a SQLite file. */
function secretFileOf(storeUrl: string): string | undefined {
  const path = sqliteFileOf(storeUrl);
  return path === undefined || path === ':memory:' ? undefined : `${path}.secret`;
}

/**
 * Replaces the secret beside the SQLite file.
 *
 * @returns its path; undefined unless it is a SQLite file
 */
export function replaceSecretFile(storeUrl: string, secret: string): string | undefined {
  const file = secretFileOf(storeUrl);
  if (file !== undefined) renameSync(writeDraft(file, secret), file);
  return file;
}

/**
 * The secret: the configured one, else the one beside the SQLite store (created at the first
 * start), else one for the life of the process.
 *
 * @param storeUrl - `sqlite:PATH` or `memory:`; a store that machines share needs a configured
 *   secret
 */
export function openSecret(storeUrl: string, configured: string | undefined): string {
  if (configured !== undefined) return configured;
  const file = secretFileOf(storeUrl);
  if (file === undefined) return randomBytes(32).toString('hex');
  makePrivateFolder(file);
  restrict(file);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    writeOnce(file, randomBytes(32).toString('hex'));
    return readFileSync(file, 'utf8');
  }
}
