// A Redis of a test's own that writes its log (AOF) before it answers: the server from the PATH on a free loopback port, its files
// in a temporary folder. It can be killed and started again on the same files, and stalled.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithFile } from '../child-processes.ts';

/** Without a server these tests are skipped, never on CI. */
export const NO_REDIS = process.env.CI === undefined && spawnSync('redis-server', ['--version']).status !== 0;

export interface RedisPlace {
  readonly url: string;
  /** Kills the server: no time to write anything. */
  kill(): Promise<void>;
  /** Starts it on the files that it left. */
  start(): Promise<void>;
  /** Stops answering without closing connections, as a lost machine does. */
  stall(): void;
  resume(): void;
  /** Everything that its files hold. */
  bytes(): string;
  remove(): Promise<void>;
}

/** A port on loopback that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const ready = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    child.stdout?.on('data', (text: Buffer) => {
      if (text.includes('Ready to accept connections')) resolve();
    });
  });

/** @param settings - more of the server's own, such as `--requirepass` */
export async function openRedisPlace(...settings: string[]): Promise<RedisPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const place: RedisPlace = {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const log = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
      child = endWithFile(
        spawn(
          'redis-server',
          ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...log, ...settings],
          { stdio: ['ignore', 'pipe', 'ignore'] },
        ),
      );
      await ready(child);
    },
    async kill() {
      const dying = child;
      child = undefined;
      if (dying === undefined) return;
      const ended = new Promise((resolve) => dying.once('exit', resolve));
      dying.kill('SIGKILL');
      await ended;
    },
    stall: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    bytes: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((file) => file.isFile())
        .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
        .join(''),
    async remove() {
      await place.kill();
      rmSync(folder, { recursive: true });
    },
  };
  await place.start();
  return place;
}
