// Ledgers of before version 1.0 hold the key by which their callers are named, sealed with
// GATEWAY_SECRET. It opens the names of that time until the ledger forgets it after 31 days.
import { createDecipheriv, scryptSync } from 'node:crypto';

const VERSION = '1';
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = SALT_BYTES + IV_BYTES + TAG_BYTES;

/** The key; null when another secret sealed it. */
export function unsealKey(text: string, secret: string): string | null {
  const [version, body = ''] = text.split('.');
  const bytes = Buffer.from(body, 'base64url');
  if (version !== VERSION || bytes.length <= HEAD_BYTES) return null;
  const key = scryptSync(secret, bytes.subarray(0, SALT_BYTES), 32);
  const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
