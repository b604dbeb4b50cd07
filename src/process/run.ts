// Starts the server: reads the configuration on import, starts the sandbox when no upstream is set,
// then listens or starts workers that listen.
import cluster from 'node:cluster';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { openSharedCache } from '../store/cache/shared-cache.ts';
import { openDocuments } from '../store/documents/leased-documents.ts';
import { LostLedgerError } from '../store/ledger/mark.ts';
import { openLedger } from '../store/ledger/open-ledger.ts';
import { openSecret } from '../store/ledger/secret-file.ts';
import { createLogger } from '../telemetry/log.ts';
import { awaitStore } from './await-store.ts';
import { sandboxOptionsOf, startEmbeddedSandbox } from './embedded-sandbox.ts';
import { openMetricsPort } from './ports.ts';
import { announceGateway, findRunningGateway } from './running-gateway.ts';
import { installShutdownHandler } from './shutdown.ts';
import { allMetrics, answerPrimary, startWorkers } from './workers.ts';

/** EX_CONFIG of sysexits.h: the configuration is wrong, and starting again will not help. */
const EXIT_CONFIG = 78;
/** By this variable a worker knows the upstream that the primary has chosen or started. */
const WORKER_VARIABLE = 'FOLDATLAS_WORKER_UPSTREAM';
/** What a process is given beyond SHUTDOWN_SECONDS, to close its stores. */
const CLOSE_MS = 5_000;

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

async function failStart(error: unknown): Promise<never> {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  const other = await findRunningGateway(config);
  if (other !== undefined)
    process.stderr.write(`A gateway of this folder runs at ${other.url}/graphql (process ${other.pid}).\n`);
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
    if (!(error instanceof LostLedgerError)) throw error;
  } finally {
    await ledger.close();
  }
}

/**
 * Imports the gateway, which is most of the program. Deferred so that the sandbox thread starts
 * loading first, and so that a primary with workers never imports it.
 */
const loadServe = () => import('./serve.ts');

async function openSource(): Promise<Source & { close(): Promise<void> }> {
  if (config.UPSTREAM_URL !== undefined)
    return { upstreamUrl: config.UPSTREAM_URL, sandbox: false, close: async () => undefined };
  const { url, close } = await startEmbeddedSandbox({
    ...sandboxOptionsOf(config),
    port: config.SANDBOX_PORT,
    control: config.SANDBOX_CONTROL,
    ...(config.SANDBOX_API_KEYS.length === 0 ? {} : { apiKeys: config.SANDBOX_API_KEYS }),
    onProgress: (line) => log.info(line),
  });
  return { upstreamUrl: url, sandbox: true, close };
}

function tellStart({ upstreamUrl, sandbox }: Source, url: string): void {
  const upstream = sandbox
    ? `SANDBOX upstream ${upstreamUrl} (a stand-in: its folds are geometry, not predictions)`
    : `upstream ${upstreamUrl}`;
  const store = config.STORE_URL.replace(/^(rediss?:\/\/).*@/, '$1');
  const workers = config.WORKERS === 1 ? '' : ` · ${config.WORKERS} workers`;
  process.stdout.write(
    `FoldAtlas · ${upstream} · store ${store}${workers} · ` +
      `${config.GRAPHIQL ? 'GraphiQL' : 'GraphQL'} ${url}/graphql\n`,
  );
}

async function metricsPort(read: () => Promise<string>): Promise<{ close(): Promise<void> } | undefined> {
  const { METRICS: on, METRICS_PORT: port, METRICS_TOKEN: token, HOST: host } = config;
  if (!on || port === undefined) return undefined;
  const opened = await openMetricsPort({ port, host, token, read });
  log.info({ url: `${opened.url}/metrics` }, 'metrics are served apart');
  return opened;
}

async function runAlone(): Promise<void> {
  const [source, { serve }] = await Promise.all([openSource(), loadServe(), checkLedger()]);
  const served = await serve({ config, log, ...source });
  const metrics = await metricsPort(served.gateway.metrics.text);
  installShutdownHandler({
    log,
    signals: ['SIGTERM', 'SIGINT'],
    deadlineMs: config.SHUTDOWN_SECONDS * 1000 + CLOSE_MS,
    async stop() {
      await served.stop();
      await metrics?.close();
      await source.close();
    },
  });
  process.on('SIGHUP', () => served.gateway.reload());
  tellStart(source, served.url);
  announceGateway(config, served.localUrl);
}

/**
 * Creates the stores' files and tables before the workers start, because SQLite does not take
 * concurrent creation well, and detects an unusable store early.
 */
async function prepareStores(): Promise<void> {
  const documents = openDocuments(config.LEDGER_URL);
  const cache = openSharedCache(config.STORE_URL, () => undefined);
  await Promise.all([documents.close(), cache?.close()]);
  await checkLedger();
}

async function runPrimary(): Promise<void> {
  await prepareStores();
  const source = await openSource();
  const { upstreamUrl, sandbox } = source;
  let metrics: { close(): Promise<void> } | undefined;
  const ending = installShutdownHandler({
    log,
    signals: ['SIGTERM', 'SIGINT'],
    // Workers have ended or are killed before it.
    deadlineMs: config.SHUTDOWN_SECONDS * 1000 + 2 * CLOSE_MS,
    async stop() {
      await primary.stop(config.SHUTDOWN_SECONDS * 1000 + CLOSE_MS);
      await metrics?.close();
      await source.close();
    },
  });
  const primary = startWorkers({
    workers: config.WORKERS,
    env: { [WORKER_VARIABLE]: JSON.stringify({ upstreamUrl, sandbox }) },
    log,
    onListening(url, localUrl) {
      tellStart(source, url);
      announceGateway(config, localUrl);
    },
    onGivingUp: (code) => ending.end(code),
  });
  process.on('SIGHUP', () => primary.reload());
  metrics = await metricsPort(primary.metrics);
}

async function runWorker(source: Source): Promise<void> {
  const { serve } = await loadServe();
  const served = await serve({ config, log, ...source, metricsText: allMetrics });
  // A terminal sends it to every process; the primary says what workers do.
  process.on('SIGINT', () => undefined);
  const ending = installShutdownHandler({
    log,
    signals: ['SIGTERM'],
    deadlineMs: config.SHUTDOWN_SECONDS * 1000 + CLOSE_MS,
    stop: served.stop,
  });
  answerPrimary(served, () => ending.end(0));
}

/** Resolves when the server listens or its workers are started; a failure is printed and exits. */
export async function run(): Promise<void> {
  // Without a listener SIGHUP ends the process. Workers ignore it, and so does a gateway that starts.
  process.on('SIGHUP', () => undefined);
  const given = process.env[WORKER_VARIABLE];
  const running =
    cluster.isWorker && given !== undefined
      ? runWorker(JSON.parse(given) as Source)
      : config.WORKERS > 1
        ? runPrimary()
        : runAlone();
  await running.catch(failStart);
}
