// Starts a process that is measured and reads it from outside: its address, its CPU time, its
// memory, its longest stall.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Reading } from './probe.ts';

const PROBE = new URL('./probe.js', import.meta.url).href;
const START_MS = 30_000;
const canPin = spawnSync('taskset', ['--version']).status === 0;

export interface ChildOptions {
  readonly name: string;
  /** A compiled file, absolute. */
  readonly file: string;
  /** Options of node. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its output is written. */
  readonly folder: string;
  /** The core that it may use; any when absent or where the system cannot pin. */
  readonly core?: number | undefined;
  /** Its first group is the address. */
  readonly announces?: RegExp;
  readonly cwd?: string;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  /** The kinds of queries that have warmed it up. */
  readonly warmFor: Set<string>;
  readonly url: string;
  /** Milliseconds from the call of the process to its announcement. */
  readonly startMs: number;
  read(): Promise<Reading>;
  /** Sends a message and waits for the answer. */
  ask(message: object): Promise<unknown>;
  /** Bytes in memory now, and at most since the last reset. NaN where the system does not tell. */
  memory(): { now: number; peak: number };
  resetPeak(): void;
  /** Ends it and waits. */
  stop(): Promise<void>;
}

const kilobytes = (status: string, name: string): number =>
  1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN);

/** Whether processes can be given a core of their own here. */
export const pinning = (): boolean => canPin;

/** A name as that of a file. */
export const toFileName = (name: string): string => name.replaceAll('/', '-');

/** Gives this process a core. */
export const pinSelf = (core: number): void => {
  spawnSync('taskset', ['-cp', String(core), String(process.pid)]);
};

/** All that run. */
const running = new Set<Child>();

/** Ends every process that was started here, also those of a scenario that failed. */
export const stopAll = async (): Promise<void> => {
  await Promise.all(Array.from(running, (child) => child.stop()));
};

/** @throws Error with what it wrote when it ends, or says no address in time */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, file, core, folder } = options;
  const log = join(folder, `${toFileName(name)}.log`);
  const out = openSync(log, 'w');
  const command = [process.execPath, ...(options.flags ?? []), '--import', PROBE, file];
  // A process without a core of its own gets all of them: it would inherit that of the bench.
  const cores = core === undefined ? `0-${cpus().length - 1}` : String(core);
  const pinned = canPin ? ['taskset', '-c', cores, ...command] : command;
  const since = performance.now();
  const child = spawn(pinned[0] ?? '', pinned.slice(1), {
    cwd: options.cwd ?? fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', out, out, 'ipc'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      NODE_ENV: 'production',
      ...options.env,
    },
  });
  closeSync(out);
  const announces = options.announces ?? /listening (\S+)\n/;
  let url: string | undefined;
  while (url === undefined) {
    if (child.exitCode !== null || performance.now() - since > START_MS) {
      child.kill('SIGKILL');
      throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(-2000)}`);
    }
    await sleep(4);
    url = announces.exec(readFileSync(log, 'utf8'))?.[1];
  }
  const started = opened(name, child, url, performance.now() - since);
  running.add(started);
  child.once('exit', () => running.delete(started));
  return started;
}

function opened(name: string, child: ChildProcess, url: string, startMs: number): Child {
  const pid = child.pid ?? 0;
  const linux = process.platform === 'linux';
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  child.on('message', (value) => waiting.shift()?.resolve(value));
  child.once('exit', () => {
    for (const one of waiting.splice(0)) one.reject(new Error(`${name} ended while it was measured`));
  });
  const answer = (message: object | string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.send(message);
    });
  return {
    name,
    pid,
    warmFor: new Set(),
    url,
    startMs,
    read: async () => (await answer('read')) as Reading,
    ask: (message) => answer(message),
    memory() {
      if (!linux) return { now: Number.NaN, peak: Number.NaN };
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return { now: kilobytes(status, 'VmRSS'), peak: kilobytes(status, 'VmHWM') };
    },
    resetPeak() {
      if (linux) writeFileSync(`/proc/${pid}/clear_refs`, '5');
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(late);
    },
  };
}
