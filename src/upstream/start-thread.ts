// Starts a module of this folder in a thread of its own, from source (tsx, vitest) and from the build alike. It does not
// know what the module does.
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/** `--import tsx` does not reach into a worker, so a thread from source begins with a line that registers tsx and then imports the module. */
function fromSource(module: URL): string {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx).href;
  return `import(${JSON.stringify(api)}).then((tsx) => (tsx.register(), import(${JSON.stringify(module.href)})))`;
}

/** @param name - path of the module relative to this folder, without its extension */
export function startThread(name: string): Worker {
  const extension = extname(import.meta.url);
  const module = new URL(`${name}${extension}`, import.meta.url);
  return extension === '.ts' ? new Worker(fromSource(module), { eval: true }) : new Worker(module);
}
