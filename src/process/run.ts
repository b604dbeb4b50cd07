// Starts the server: reads the configuration on import, starts the sandbox when no upstream is set,
// then listens.
import { type Config, ConfigError, readConfig } from '../config.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import { openSecret } from '../store/ledger/secret-file.ts';
import { UnusableStoreError } from '../store/unusable-store.ts';
import { createLogger } from '../telemetry/log.ts';
import { awaitStore } from './await-store.ts';
import { startEmbeddedSandbox } from './embedded-sandbox.ts';
import { openMetricsPort } from './ports.ts';
import { installShutdownHandler } from './shutdown.ts';

/** EX_CONFIG of sysexits.h: the configuration is wrong, and starting again will not help. */
const EXIT_CONFIG = 78;

interface Source {
  readonly upstreamUrl: string;
  readonly sandbox: boolean;
}

function configOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}

const config = configOrExit();
const log = createLogger(config.LOG_LEVEL, config.production);
for (const warning of config.warnings) log.warn(warning);

function failStart(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
}

/** Ends the start early where the ledger does not answer, or was written with another secret. */
async function checkLedger(): Promise<void> {
  const secrets = {
    current: openSecret(config.LEDGER_URL, config.GATEWAY_SECRET),
    previous: config.GATEWAY_SECRET_PREVIOUS,
  };
  const ledger = openLedger(config.LEDGER_URL, secrets);
  try {
    await awaitStore(config, log, ledger.check);
  } catch (error) {
    // The gateway serves reads, and says it.
    if (!(error instanceof UnusableStoreError)) throw error;
  } finally {
    await ledger.close();
  }
}

/** Imports the gateway, which is most of the program, while the thread of the sandbox starts. */
const loadServe = () => import('./serve.ts');

async function openSource(): Promise<Source & { close(): Promise<void> }> {
  if (config.UPSTREAM_URL !== undefined)
    return { upstreamUrl: config.UPSTREAM_URL, sandbox: false, close: async () => undefined };
  const { url, close } = await startEmbeddedSandbox(config, { onProgress: (line) => log.info(line) });
  return { upstreamUrl: url, sandbox: true, close };
}

function tellStart({ upstreamUrl, sandbox }: Source, url: string): void {
  const upstream = sandbox
    ? `SANDBOX upstream ${upstreamUrl} (a stand-in: its folds are geometry, not predictions)`
    : `upstream ${upstreamUrl}`;
  const store = config.STORE_URL.replace(/^(rediss?:\/\/).*@/, '$1');
  process.stdout.write(
    `FoldAtlas · ${upstream} · store ${store} · ` +
      `${config.INTROSPECTION ? 'GraphiQL' : 'GraphQL'} ${url}/graphql\n`,
  );
}

async function metricsPort(read: () => Promise<string>): Promise<{ close(): Promise<void> } | undefined> {
  const { METRICS_PORT: port, METRICS_TOKEN: token, HOST: host } = config;
  if (port === undefined) return undefined;
  const opened = await openMetricsPort({ port, host, token, read });
  log.info({ url: `${opened.url}/metrics` }, 'metrics are served apart');
  return opened;
}

async function start(): Promise<void> {
  const [source, { serve }] = await Promise.all([openSource(), loadServe(), checkLedger()]);
  const served = await serve({ config, log, ...source });
  const metrics = await metricsPort(served.gateway.metrics.text);
  installShutdownHandler(log, config.SHUTDOWN_SECONDS * 1000, async () => {
    await served.stop();
    await metrics?.close();
    await source.close();
  });
  process.on('SIGHUP', () => served.gateway.reload());
  tellStart(source, served.url);
}

/** Resolves when the server listens; a failure is printed and ends the process. */
export async function run(): Promise<void> {
  // Without a listener SIGHUP ends the process, also one that starts.
  process.on('SIGHUP', () => undefined);
  await start().catch(failStart);
}
