// Addresses of files that open without a token for 15 minutes. The signature is the sealed claim
// itself (AES-256-GCM, bound to the path): a reader sees neither the caller nor the service's
// address in it. It never holds a token, so it grants this one file and nothing else.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { GatewayContext, LinkClaim, LinkRefusal, SignedLinks } from '../../context.ts';
import type { Exchange } from '../exchange.ts';

/** How long a link opens; the service's own address may expire sooner. */
export const LINK_MINUTES = 15;

const CIPHER = 'aes-256-gcm';
const VERSION = '1';
const INFO = 'foldatlas signed links 1';
const SALT_BYTES = 24;
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

const sealedClaim = z.object({
  /** Seconds since the epoch. */
  expiresAt: z.number(),
  principal: z.string().nullable(),
  url: z.string().nullable(),
});

/** The caller for whom a link was made, and the link's claim. */
export interface OpenedLink {
  readonly ctx: GatewayContext;
  readonly claim: LinkClaim;
}

/**
 * Opens a request by its signature, as the caller for whom the link was made, without a token.
 *
 * @param signature - of the address; undefined where it has none
 * @param path - of the file
 * @returns null without a signature; the refusal of a wrong one
 */
export type OpenLink = (
  exchange: Exchange,
  signature: string | undefined,
  path: string,
) => OpenedLink | LinkRefusal | null;

/**
 * Creates what seals and opens links.
 *
 * @param secret - the key that all replicas of a gateway share
 */
export function createSignedLinks(secret: string): SignedLinks {
  // A salt for each link gives each a key of its own: any number of links is safe under one secret.
  const deriveKey = (salt: Buffer): { key: Buffer; iv: Buffer } => {
    const derived = Buffer.from(hkdfSync('sha256', secret, salt, INFO, KEY_BYTES + IV_BYTES));
    return { key: derived.subarray(0, KEY_BYTES), iv: derived.subarray(KEY_BYTES) };
  };
  const boundData = (path: string): Buffer => Buffer.from(`${VERSION} ${path}`);

  return {
    seal(path, claim) {
      const salt = randomBytes(SALT_BYTES);
      const { key, iv } = deriveKey(salt);
      const expiresAt = Math.floor(Date.now() / 1000) + LINK_MINUTES * 60;
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(boundData(path));
      const text = JSON.stringify({ ...claim, expiresAt } satisfies z.input<typeof sealedClaim>);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const signature = Buffer.concat([salt, cipher.getAuthTag(), sealed]).toString('base64url');
      // Viewers read the format from the end of an address: the file's name stands last.
      return `/signed/${VERSION}.${signature}${path}`;
    },
    open(path, signature) {
      const [version, body = ''] = signature.split('.');
      const bytes = Buffer.from(body, 'base64url');
      const head = SALT_BYTES + TAG_BYTES;
      if (version !== VERSION || bytes.byteLength <= head) return 'invalid';
      const { key, iv } = deriveKey(bytes.subarray(0, SALT_BYTES));
      const options = { authTagLength: TAG_BYTES };
      const decipher = createDecipheriv(CIPHER, key, iv, options).setAAD(boundData(path));
      decipher.setAuthTag(bytes.subarray(SALT_BYTES, head));
      let text: string;
      try {
        text = Buffer.concat([decipher.update(bytes.subarray(head)), decipher.final()]).toString('utf8');
      } catch {
        return 'invalid';
      }
      const { expiresAt, ...claim } = sealedClaim.parse(JSON.parse(text));
      return Date.now() < expiresAt * 1000 ? claim : 'expired';
    },
  };
}
