// An issuer of tokens for tests: keys of three kinds behind an address on loopback, which can be
// switched off.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export const ISSUER = 'https://login.example.org/';
export const AUDIENCE = 'foldatlas';

export interface Issuer {
  /** Where the keys are. */
  readonly url: string;
  /** How often they were fetched. */
  readonly fetches: number;
  /** Answers with an error from now on, or no more. */
  fail(failing: boolean): void;
  /**
   * A good token of a subject, changed as told. @param kid - the name of a key, ES256 unless said
   */
  sign(sub: string, changes?: Record<string, unknown>, kid?: string): Promise<string>;
  /** The public key of a kind, as everybody may know it. */
  publicKey(alg: string): JWK;
  close(): Promise<void>;
}

export async function openIssuer(): Promise<Issuer> {
  const pairs = new Map<string, { privateKey: CryptoKey; jwk: JWK }>();
  const publish = async (alg: string) => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    pairs.set(alg, { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: alg, alg } });
  };
  for (const alg of ['ES256', 'RS256', 'EdDSA', 'PS256']) await publish(alg);
  const createPair = (alg: string) => {
    const pair = pairs.get(alg);
    if (pair === undefined) throw new Error(`no key for ${alg}`);
    return pair;
  };
  let fetches = 0;
  let failing = false;
  const server = createServer((_, answer) => {
    fetches += 1;
    answer.statusCode = failing ? 500 : 200;
    answer.end(JSON.stringify({ keys: [...pairs.values()].map(({ jwk }) => jwk) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    get fetches() {
      return fetches;
    },
    fail: (now) => {
      failing = now;
    },
    sign(sub, changes = {}, kid = 'ES256') {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: ISSUER, aud: AUDIENCE, sub, iat: now, exp: now + 300, ...changes };
      const { privateKey, jwk } = createPair(kid);
      return new SignJWT(claims).setProtectedHeader({ alg: jwk.alg ?? kid, kid }).sign(privateKey);
    },
    publicKey: (alg) => createPair(alg).jwk,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
