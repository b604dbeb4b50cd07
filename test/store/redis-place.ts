// A Redis of a test's own that writes its log (AOF) before it answers: the server from the PATH on
// a free loopback port, its files in a temporary folder. It can be killed and started again on the
// same files, and stalled.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { endWithFile } from '../child-processes.ts';

/** Without a server these tests are skipped, never on CI. */
export const NO_REDIS = process.env.CI === undefined && spawnSync('redis-server', ['--version']).status !== 0;

export interface RedisPlace {
  readonly url: string;
  /** Kills the server: no time to write anything. */
  kill(): Promise<void>;
  /** Starts it on the files that it left, unless it runs. */
  start(): Promise<void>;
  /** Stops answering without closing connections, as a lost machine does. */
  stall(): void;
  resume(): void;
  /** Everything that its files hold. */
  bytes(): string;
  remove(): Promise<void>;
}

/**
 * A port on loopback that nothing listens on. It lies below those that systems give to `listen(0)`
 * and to outgoing connections, so that none of these takes it before it is used, or while its
 * server is restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
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
      if (child !== undefined) return;
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

/**
 * A primary and a replica behind one address, which leads to the primary, and after a failover to
 * the replica.
 */
export interface RedisPair {
  readonly url: string;
  readonly primary: RedisPlace;
  readonly replica: RedisPlace;
  /** Ends the replication, without a word to the replica. */
  cut(): Promise<void>;
  /** Makes the replica follow the primary, and waits until it does. */
  follow(): Promise<void>;
  /** Kills the primary and promotes the replica. */
  failOver(): Promise<void>;
  /** Promotes the replica, while the primary goes on for those that are connected to it. */
  split(): Promise<void>;
  remove(): Promise<void>;
}

async function command(url: string, ...parts: string[]): Promise<unknown> {
  const client = await createClient({ url }).connect();
  const answer = await client.sendCommand(parts);
  client.destroy();
  return answer;
}

/** A port that leads to another one, which can be changed. */
async function openSwitch(port: number): Promise<{ server: Server; lead(to: number): void; cut(): void }> {
  let target = port;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    lead(to) {
      target = to;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

export async function openRedisPair(): Promise<RedisPair> {
  const [primary, replica] = await Promise.all([
    openRedisPlace('--repl-diskless-sync-delay', '0'),
    openRedisPlace(),
  ]);
  const readPort = ({ url }: RedisPlace) => Number(new URL(url).port);
  const way = await openSwitch(readPort(primary));
  const address = way.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const pair: RedisPair = {
    url: `redis://127.0.0.1:${address.port}`,
    primary,
    replica,
    async cut() {
      // It stays a replica, of a server that it never reaches.
      await command(replica.url, 'REPLICAOF', '127.0.0.1', '1');
    },
    async follow() {
      await command(replica.url, 'REPLICAOF', '127.0.0.1', String(readPort(primary)));
      for (;;) {
        const role = await command(primary.url, 'ROLE');
        if (Array.isArray(role) && Array.isArray(role[2]) && role[2].length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async failOver() {
      await primary.kill();
      replica.resume();
      await pair.split();
      way.cut();
    },
    async split() {
      await command(replica.url, 'REPLICAOF', 'NO', 'ONE');
      way.lead(readPort(replica));
    },
    async remove() {
      way.cut();
      way.server.close();
      await Promise.all([primary.remove(), replica.remove()]);
    },
  };
  await pair.follow();
  return pair;
}
