// One pool of threads for the process: large JSON would block the event loop. Idle threads end by
// themselves and do not keep the process alive.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Tinypool } from 'tinypool';
import { PACKAGE_ROOT } from '../../package.ts';

/** Smaller JSON takes less time than the way to a thread and back. */
export const WORKER_ABOVE_BYTES = 1024 ** 2;

const MAX_JSON_THREADS = 2;
const IDLE_MS = 30_000;
/** Memory of a thread. One that needs more ends with an error for its task; the process goes on. */
const MAX_HEAP_MB = 512;

const isFromSource = import.meta.url.endsWith('.ts');

/** Options for Node that let a thread import TypeScript: Node 20 has no other way to do it. */
function tsxOptions(): string[] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = JSON.stringify(new URL('./dist/esm/api/index.mjs', tsx).href);
  const register = `import { register } from ${api}; register();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(register)}`];
}

let pool: Tinypool | undefined;

/** Opens a pool whose threads start when there is work, and end when there is none. */
export function openPool(maxThreads: number): Tinypool {
  const opened = new Tinypool({
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    ...(isFromSource ? { execArgv: tsxOptions() } : {}),
  });
  // The tasks of a thread that dies are rejected; without a task there is nothing to tell.
  opened.on('error', () => undefined);
  return opened;
}

/**
 * The address of a module that a thread imports.
 *
 * @param name - its path within `src/` without its extension; `scripts/build.js` compiles files
 *   named `*-worker.ts` for it
 */
export const workerFile = (name: string): string =>
  new URL(isFromSource ? `src/${name}.ts` : `dist/${name}.js`, PACKAGE_ROOT).href;

/**
 * Runs the default export of a module in a thread.
 *
 * @param name - of the module, as workerFile takes it
 * @param transfer - buffers that are moved to the thread and are empty here afterwards
 * @returns what the function returns, as a structured clone
 * @throws what it throws: of errors, only the built-in kinds keep their class. SyntaxError also for
 *   JSON that takes more memory than a thread has
 */
export async function runInWorker(
  name: string,
  task: unknown,
  transfer: ArrayBuffer[] = [],
): Promise<unknown> {
  pool ??= openPool(MAX_JSON_THREADS);
  try {
    return await pool.run(task, { filename: workerFile(name), transferList: transfer });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new SyntaxError('The JSON takes too much memory.', { cause: error });
    throw error;
  }
}
