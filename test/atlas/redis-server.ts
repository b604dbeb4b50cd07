// A Redis of a test's own: the server from the PATH on a free port, its files in a temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RedisServer {
  readonly url: string;
  /** Stops answering without closing connections, as a stalled machine does. */
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Resolves when the server says that it is ready. */
const ready = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    child.stdout?.on('data', (text: Buffer) => {
      if (text.includes('Ready to accept connections')) resolve();
    });
  });

/** Starts a server. @returns null where there is none on the PATH, which on CI is an error */
export async function startRedis(port?: number): Promise<RedisServer | null> {
  const folder = await mkdtemp(join(tmpdir(), 'foldatlas-redis-'));
  const at = port ?? (await freePort());
  const child = spawn(
    'redis-server',
    ['--port', String(at), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  try {
    await ready(child);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (process.env.CI === 'true' || !(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      throw error;
    return null;
  }
  return {
    url: `redis://127.0.0.1:${at}`,
    stall: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async close() {
      child.kill('SIGCONT');
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
