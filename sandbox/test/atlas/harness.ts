// An Atlas over the small universe, for the tests beside this file: every call goes through
// app.fetch.
import type { z } from 'zod';
import { createAtlasApp } from '../../src/atlas/app.ts';
import { openUniverse } from '../../src/atlas/universe.ts';
import { type Clock, ManualClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/database.ts';
import { createRoutes } from '../../src/routes.ts';
import { createSigner } from '../../src/signing.ts';
import { type Dialect, listConventions } from '../../src/wire/conventions.ts';
import { readWireSettings } from '../../src/wire/settings.ts';

export const PREFIX = '/atlas/protein/api/v1alpha1';
const BASE = 'http://sandbox.test';

const wire = readWireSettings({});

/** One universe for a whole test file: it is never written to. */
export const smallUniverse = await openUniverse({ file: ':memory:', seed: 7, size: 'small' });

/** An Atlas with its own state database and clock. */
export function startAtlas({
  database = openDatabase(':memory:'),
  clock = new ManualClock(),
  serverClock = clock as Clock,
  universe = smallUniverse,
  dialect = 'rich' as Dialect,
} = {}) {
  const signer = createSigner({ secret: 'test', baseUrl: () => BASE, clock: serverClock });
  const app = createAtlasApp({
    universe,
    database,
    clock: serverClock,
    signer,
    wire,
    routes: createRoutes(wire),
    conventions: listConventions(dialect),
  });
  const request = async (pathOrUrl: string, init?: RequestInit): Promise<Response> =>
    app.fetch(new Request(new URL(pathOrUrl, BASE), init));
  return {
    clock,
    database,
    request,
    /** A request below the prefix. */
    get: (path: string, init?: RequestInit) => request(PREFIX + path, init),
    /** A GET below the prefix that must answer 200 in that shape. */
    async read<T>(path: string, shape: z.ZodType<T>): Promise<T> {
      const response = await request(PREFIX + path);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return shape.parse(await response.json());
    },
    bulk: (body: unknown) =>
      request(`${PREFIX}/proteins/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

/** Every readable protein of the small universe. */
export const allProteins = Array.from(smallUniverse.withheld, (_, id) =>
  smallUniverse.proteinById(id),
).flatMap((protein) => protein ?? []);
export const allHashes = allProteins.map(({ hash }) => hash);
