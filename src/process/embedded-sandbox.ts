// The sandbox, which stands in for the service where UPSTREAM_URL is not set. It is a package of
// its own (`sandbox/`), which an installation of the gateway alone leaves out.

import type * as Sandbox from 'foldatlas-sandbox/sandbox';
import { type Config, ConfigError } from '../config.ts';

const INSTALL = 'npm install foldatlas-sandbox (in a checkout: npm ci && npm run build)';
const NOT_INSTALLED = {
  main: `The sandbox is not installed: ${INSTALL}`,
  sandbox: `UPSTREAM_URL: set the address of the service, or install the sandbox, which stands in for it: ${INSTALL}`,
};

/** Node runs no TypeScript of a package, so a gateway that runs from source takes the source. */
const load = (name: keyof typeof NOT_INSTALLED) =>
  import(
    import.meta.url.endsWith('.ts')
      ? new URL(`../../sandbox/src/${name}.ts`, import.meta.url).href
      : `foldatlas-sandbox/${name}`
  ).catch(async (error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new ConfigError([NOT_INSTALLED[name]]);
  });

/** The gateway's prefixes, models and field names. */
const wireOptions = (config: Config) => ({
  batchPrefix: config.UPSTREAM_BATCH_PREFIX,
  atlasPrefix: config.UPSTREAM_ATLAS_PREFIX,
  listLimitField: config.UPSTREAM_LIST_FIELDS[0],
  listCursorField: config.UPSTREAM_LIST_FIELDS[1],
  models: config.FOLD_MODELS,
});

export interface EmbeddedSandbox {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts it in a worker thread, on any free port unless SANDBOX_PORT names one.
 *
 * @param more - options that replace those of the environment
 * @throws ConfigError when it is not installed, or its settings are wrong
 */
export async function startEmbeddedSandbox(
  config: Config,
  more: Parameters<typeof Sandbox.startSandboxThread>[0],
): Promise<EmbeddedSandbox> {
  const { readOptions, startSandboxThread }: typeof Sandbox = await load('sandbox');
  const reading = await readOptions({ SANDBOX_PORT: '0', ...config.sandbox });
  if ('problems' in reading) throw new ConfigError(reading.problems);
  for (const warning of reading.warnings) more?.onProgress?.(warning);
  const { manualClock: _manualClock, wire, ...options } = reading.options;
  return startSandboxThread({ ...options, wire: { ...wire, ...wireOptions(config) }, ...more }).catch(
    (error: unknown) => {
      const isSetting = error instanceof Error && error.name === 'WireSettingsError';
      throw isSetting ? new ConfigError([error.message]) : error;
    },
  );
}

/**
 * Runs the sandbox by itself, as `npm run sandbox` does.
 *
 * @throws ConfigError when it is not installed
 */
export const runSandbox = (): Promise<unknown> => load('main');
