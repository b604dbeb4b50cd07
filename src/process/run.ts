// Starts the server: reads the configuration, starts the sandbox where no upstream is set, listens,
// and stops in order on a signal.
import { isRedis } from '../config/variables.ts';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import { checkSecretFile, openSecret } from '../store/ledger/secret-file.ts';
import { UnusableStoreError } from '../store/unusable-store.ts';
import { createLogger, type Logger } from '../telemetry/log.ts';
import { awaitStore } from './await-store.ts';
import { startEmbeddedSandbox } from './embedded-sandbox.ts';
import { openMetricsPort } from './ports.ts';
import { installShutdownHandler } from './shutdown.ts';

/** EX_CONFIG of sysexits.h: the configuration is wrong, and starting again will not help. */
const EXIT_CONFIG = 78;

interface Source {
  readonly upstreamUrl: string;
  readonly sandbox: boolean;
  close(): Promise<void>;
}

async function openSource(config: Config, log: Logger): Promise<Source> {
  if (config.UPSTREAM_URL !== undefined)
    return { upstreamUrl: config.UPSTREAM_URL, sandbox: false, close: async () => undefined };
  const { url, close } = await startEmbeddedSandbox(config, { onProgress: (line) => log.info(line) });
  return { upstreamUrl: url, sandbox: true, close };
}

function startLine(config: Config, { upstreamUrl, sandbox }: Source, url: string): string {
  const upstream = sandbox
    ? `SANDBOX upstream ${upstreamUrl} (a stand-in: its folds are geometry, not predictions)`
    : `upstream ${upstreamUrl}`;
  const store = config.STORE_URL.replace(/^(rediss?:\/\/).*@/, '$1');
  const page = config.INTROSPECTION ? 'GraphiQL' : 'GraphQL';
  return `FoldAtlas · ${upstream} · store ${store} · ${page} ${url}/graphql\n`;
}

/**
 * Ends the start before anything is written to a ledger of another secret, and before anything else
 * uses a server that refuses, or that does not answer.
 */
async function checkLedger(config: Config, log: Logger): Promise<void> {
  const { LEDGER_URL, GATEWAY_SECRET, GATEWAY_SECRET_PREVIOUS: previous } = config;
  if (!isRedis(LEDGER_URL)) {
    await awaitStore(config, log, async () => checkSecretFile(LEDGER_URL, GATEWAY_SECRET, previous));
    return;
  }
  const ledger = openLedger(LEDGER_URL, { current: openSecret(LEDGER_URL, GATEWAY_SECRET), previous });
  try {
    await awaitStore(config, log, ledger.check);
  } catch (error) {
    // The gateway serves reads without it.
    if (!(error instanceof UnusableStoreError)) throw error;
  } finally {
    await ledger.close();
  }
}

/** Opens METRICS_PORT; a gateway whose port is taken goes on without it. */
async function startMetricsPort(
  { METRICS_PORT: port, HOST: host, METRICS_TOKEN: token }: Config,
  read: () => Promise<string>,
  log: Logger,
) {
  try {
    return port === undefined ? undefined : await openMetricsPort({ port, host, token, read });
  } catch (error) {
    log.warn({ error }, 'METRICS_PORT cannot be opened; no metrics are served');
    return undefined;
  }
}

async function start(config: Config): Promise<void> {
  const log = createLogger(config.LOG_LEVEL, config.isProduction);
  for (const warning of config.warnings) log.warn(warning);
  // The gateway is most of the program: it is imported while the thread of the sandbox starts.
  const [source, { serve }] = await Promise.all([
    openSource(config, log),
    import('./serve.ts'),
    checkLedger(config, log),
  ]);
  const served = await serve({ config, log, ...source }).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const metrics = await startMetricsPort(config, served.gateway.metrics.text, log);
  if (metrics !== undefined) log.info({ url: `${metrics.url}/metrics` }, 'metrics are served apart');
  installShutdownHandler(log, config.SHUTDOWN_SECONDS * 1000, async () => {
    const isInTime = await served.stop();
    await metrics?.close();
    await source.close();
    return isInTime;
  });
  process.on('SIGHUP', () => served.gateway.reload());
  process.stdout.write(startLine(config, source, served.url));
}

/** Resolves when the server listens; a failure is printed and ends the process. */
export async function run(): Promise<void> {
  // Without a listener SIGHUP ends the process, also one that starts.
  process.on('SIGHUP', () => undefined);
  // A full disk, or a reader that has gone, costs the line that says where it listens.
  process.stdout.on('error', () => undefined);
  try {
    await start(readConfig(process.env));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}
