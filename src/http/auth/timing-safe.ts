// Compares secrets in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';

/** A secret as something of one length, whatever its own. */
export const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether the given text is the secret, in constant time. */
export const timingSafeEqualSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(sha256(given), sha256(secret));
