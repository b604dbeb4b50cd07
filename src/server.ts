// The only file that acts when it is imported: reads the configuration, starts the sandbox where no upstream is named,
// makes the gateway, listens, and drains when told to stop.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isOwnHost } from './callers/host.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createGateway } from './gateway.ts';
import { createLogger } from './log.ts';
import { startSandboxThread } from './sandbox/sandbox.ts';
import { attachWebSocket } from './websocket.ts';

/** EX_CONFIG of sysexits.h: the configuration is wrong, and starting again will not help. */
const EXIT_CONFIG = 78;
/** How long a shutdown waits for answers under way. */
const DRAIN_MS = 10_000;

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

const sandbox =
  config.UPSTREAM_URL === undefined
    ? await startSandboxThread({
        port: config.SANDBOX_PORT,
        dataDir: config.SANDBOX_DATA,
        seed: config.SANDBOX_SEED,
        size: config.SANDBOX_SIZE,
        speed: config.SANDBOX_SPEED,
        control: config.SANDBOX_CONTROL,
        ...(config.SANDBOX_API_KEYS.length === 0 ? {} : { apiKeys: config.SANDBOX_API_KEYS }),
        ...(config.SANDBOX_FASTA === undefined ? {} : { fasta: config.SANDBOX_FASTA }),
        onProgress: (line) => log.info(line),
      })
    : undefined;
const upstreamUrl = sandbox?.url ?? config.UPSTREAM_URL ?? '';
const gateway = createGateway({ config, upstreamUrl, log, sandbox: sandbox !== undefined });
try {
  await gateway.ready();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  await sandbox?.close();
  process.exit(1);
}
const server = createServer(
  { headersTimeout: 20_000, requestTimeout: 120_000, keepAliveTimeout: 65_000 },
  gateway.listener,
);

server.on('error', (error: NodeJS.ErrnoException) => {
  const why =
    error.code === 'EADDRINUSE'
      ? `Port ${config.PORT} is taken; stop what listens there or set PORT.`
      : `Cannot listen on ${config.HOST}:${config.PORT}: ${error.message}`;
  process.stderr.write(`${why}\n`);
  process.exit(1);
});

server.listen(config.PORT, config.HOST, () => {
  const { address, port } = server.address() as AddressInfo;
  const url = config.PUBLIC_URL ?? `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
  const upstream =
    sandbox === undefined
      ? `upstream ${upstreamUrl}`
      : `SANDBOX upstream ${upstreamUrl} (a stand-in: its folds are geometry, no predictions)`;
  process.stdout.write(
    `FoldAtlas · ${upstream} · store ${config.STORE_URL.replace(/\/\/[^/@]*@/, '//')} · ${config.GRAPHIQL ? 'GraphiQL' : 'GraphQL'} ${url}/graphql\n`,
  );
});

const sockets = attachWebSocket(server, gateway, {
  origins: config.CORS_ORIGINS,
  maxBytes: config.MAX_BODY_BYTES,
  isOwnHost: config.keyForLoopback ? (host) => isOwnHost(host, config.PUBLIC_URL) : undefined,
});

let stopping = false;
function stop(signal: string): void {
  if (stopping) return;
  stopping = true;
  log.info('stopping', { signal });
  gateway.drain();
  void sockets.close();
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  server.close(async () => {
    clearTimeout(late);
    await gateway.close();
    await sandbox?.close();
    process.exit(0);
  });
  server.closeIdleConnections();
}
process.on('SIGHUP', () => gateway.reload());
process.on('SIGTERM', () => stop('SIGTERM'));
process.on('SIGINT', () => stop('SIGINT'));
