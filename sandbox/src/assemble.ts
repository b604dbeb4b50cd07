// Puts the whole sandbox together: opens what it remembers, joins its parts, listens. The one place
// that knows every part.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createApp } from './app.ts';
import { createAtlasApp } from './atlas/app.ts';
import { openUniverse } from './atlas/universe.ts';
import { createBatchApp } from './batch/app.ts';
import { createDownloads } from './batch/downloads.ts';
import { createFolder } from './batch/folder.ts';
import { startQueue } from './batch/queue.ts';
import { openBatchStore } from './batch/store.ts';
import { ManualClock, systemClock } from './clock.ts';
import { createControl } from './control.ts';
import { type Database, openDatabase } from './database.ts';
import { createFaults } from './faults.ts';
import { lockFolder } from './folder-lock.ts';
import { DEFAULT_FORM } from './folding/rows.ts';
import { defaultLimits } from './limits.ts';
import { listen } from './listen.ts';
import type { Sandbox, SandboxOptions } from './options.ts';
import { createRoutes } from './routes.ts';
import { createSigner } from './signing.ts';
import { listConventions } from './wire/conventions.ts';
import { readWireSettings } from './wire/settings.ts';

/** The signing secret is kept, so that URLs given out before a restart stay good. */
function readSecret(database: Database): string {
  database.exec('CREATE TABLE IF NOT EXISTS secrets (secret TEXT NOT NULL) STRICT');
  const kept = database.prepare('SELECT secret FROM secrets').get()?.secret;
  if (typeof kept === 'string') return kept;
  const secret = randomBytes(32).toString('hex');
  database.prepare('INSERT INTO secrets VALUES (?)').run(secret);
  return secret;
}

const DEFAULT_SEED = 20_260_501;

/** The work of `startSandbox`. */
export async function assembleSandbox(options: SandboxOptions): Promise<Sandbox> {
  const opened: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    return { ...(await open(options, (end) => opened.push(end))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param ending is told how to close each part, in the order in which they are opened */
async function open(
  options: SandboxOptions,
  ending: (end: () => unknown) => void,
): Promise<Omit<Sandbox, 'close'>> {
  const { host = '127.0.0.1', port = 0, clock = systemClock, control = false, speed = 1 } = options;
  // With a colon as well: it is how the gateway's STORE_URL says so.
  const dataDir = /^memory:?$/.test(options.dataDir ?? 'memory') ? undefined : options.dataDir;
  const { seed = DEFAULT_SEED, size = 'full', fasta, dialect = 'plain', onProgress, onRequest } = options;
  const conventions = listConventions(dialect);
  const wire = readWireSettings(options.wire ?? {});
  const routes = createRoutes(wire);
  const limits = { ...defaultLimits, ...options.limits };
  const file = (name: string): string => (dataDir === undefined ? ':memory:' : join(dataDir, name));

  if (dataDir !== undefined) ending(lockFolder(dataDir));
  const universe = await openUniverse({
    file: file(`universe-${size}-${seed}.db`),
    seed,
    size,
    ...(fasta === undefined ? {} : { fasta }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  ending(() => universe.close());
  const database = openDatabase(file('sandbox.db'));
  ending(() => database.close());

  let url = '';
  const baseUrl = (): string => options.publicUrl ?? url;
  const signer = createSigner({ secret: readSecret(database), baseUrl, clock });
  const faults = createFaults();
  const store = openBatchStore(database);
  const folder = createFolder({ ...DEFAULT_FORM, ...options.resultForm });
  ending(() => folder.close());
  const queue = startQueue({ store, clock, folder, limits, speed, held: clock instanceof ManualClock });
  ending(() => queue.close());

  const batchParts = { store, queue, folder, clock, signer, limits, conventions, wire };
  const keys = options.apiKeys === undefined ? undefined : new Set(options.apiKeys);
  const app = createApp({
    parts: [
      createBatchApp({ ...batchParts, keys, breakOff: faults.nextBreakOff }),
      createDownloads({ store, signer, clock, limits, conventions }),
      createAtlasApp({ universe, database, clock, signer, routes, wire, conventions }),
      ...(control ? [createControl({ faults, clock, queue, store })] : []),
    ],
    routes,
    wire,
    faults,
    control,
    maxBodyBytes: limits.maxBodyBytes,
    onRequest,
  });
  const server = await listen(app.fetch, { host, port, headers: { 'x-sandbox': '1' } });
  ending(() => server.close());
  url = server.url;
  return { url, clock };
}
