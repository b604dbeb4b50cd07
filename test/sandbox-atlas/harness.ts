// An Atlas over the small universe, for the tests beside this file: every call goes through app.fetch.

import { createAtlasApp } from '../../src/sandbox/atlas/app.ts';
import { openUniverse } from '../../src/sandbox/atlas/universe.ts';
import { ManualClock } from '../../src/sandbox/clock.ts';
import { openDatabase } from '../../src/sandbox/database.ts';
import { createSigner } from '../../src/sandbox/signing.ts';

export const PREFIX = '/atlas/protein/api/v1alpha1';
const BASE = 'http://sandbox.test';

/** One universe for a whole test file: it is never written to. */
export const smallUniverse = await openUniverse({ file: ':memory:', seed: 7, size: 'small' });

/** A fresh Atlas with its own state database and clock. */
export function startAtlas({ database = openDatabase(':memory:'), clock = new ManualClock() } = {}) {
  const signer = createSigner({ secret: 'test', baseUrl: () => BASE, clock });
  const app = createAtlasApp({ universe: smallUniverse, database, clock, signer, prefix: PREFIX });
  const request = async (pathOrUrl: string, init?: RequestInit): Promise<Response> =>
    app.fetch(new Request(new URL(pathOrUrl, BASE), init));
  return {
    clock,
    database,
    request,
    /** A GET below the prefix. */
    get: (path: string, init?: RequestInit) => request(PREFIX + path, init),
    /** A GET below the prefix whose JSON is wanted. */
    async json(path: string): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }> {
      const response = await request(PREFIX + path);
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
    bulk: (body: unknown) =>
      request(`${PREFIX}/proteins/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

/** Every readable hash of the small universe. */
export const allHashes = (): string[] =>
  Array.from(smallUniverse.withheld, (_, id) => smallUniverse.proteinById(id)).flatMap((protein) =>
    protein === undefined ? [] : [protein.hash],
  );
