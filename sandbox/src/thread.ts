// Starts a module in a thread of its own, from source (tsx, vitest) and from the build alike.
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Node runs no TypeScript in a worker, and `--import tsx` does not reach into one; so a thread from
 * source begins with a line that registers tsx and then imports the module.
 */
function fromSource(module: URL): string {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx).href;
  return `import(${JSON.stringify(api)}).then((tsx) => (tsx.register(), import(${JSON.stringify(module.href)})))`;
}

/**
 * @param name path of the module relative to this folder, without its extension
 * @param options such as what the module finds as `workerData`
 */
export function startThread(name: string, options: Omit<WorkerOptions, 'eval' | 'execArgv'> = {}): Worker {
  const extension = extname(import.meta.url);
  // The build puts this file into chunks/, and modules that are threads beside that folder.
  const folder = new URL(extension === '.ts' ? './' : '../', import.meta.url);
  const module = new URL(`${name}${extension}`, folder);
  return extension === '.ts'
    ? new Worker(fromSource(module), { ...options, eval: true })
    : new Worker(module, options);
}
