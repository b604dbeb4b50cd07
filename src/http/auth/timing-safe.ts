// Secrets compared without telling by the time it takes how much of one was right. It must not know what they open.
import { createHash, timingSafeEqual } from 'node:crypto';

/** A secret as something of one length, whatever its own. */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether somebody knows a secret, in constant time. */
export const isSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(digestOf(given), digestOf(secret));
