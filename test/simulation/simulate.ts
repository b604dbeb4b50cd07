// Bundles the simulator with the gateway's source, with or without a fault in it, and plays
// histories on every core.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build, type Plugin } from 'esbuild';
import type { Fault } from './mutants.ts';
import type { Plan, StoreKind } from './plan.ts';
import { redisSocket } from './redis.ts';
import type { Found, Report, Task } from './worker.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache');
/** Files in memory cost no time for syncing. */
const MEMORY = '/dev/shm';

/** Puts a fault into a file of the gateway. @throws Error when the text it replaces is not there */
const mutate = ({ file, replacements }: Fault): Plugin => ({
  name: 'mutant',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path !== join(ROOT, file)) return undefined;
      let contents = readFileSync(path, 'utf8');
      for (const [text, fault] of replacements) {
        if (contents.split(text).length !== 2) throw new Error(`${file} does not have once: ${text}`);
        contents = contents.replace(text, () => fault);
      }
      return { contents, loader: 'ts' };
    }),
});

/** Files of the simulator that stand in for others below a folder of the gateway. */
const STAND_INS = [
  [/\/sqlite\.ts$/, 'src', 'sqlite.ts'],
  [/\/redis-connection\.ts$/, 'src', 'redis.ts'],
  [/^node:fs$/, 'src/store/ledger/witness-file.ts', 'files.ts'],
  [/^node:timers\/promises$/, 'src/store', 'virtual-time.ts'],
] as const;
const standIns: Plugin = {
  name: 'stand-ins',
  setup({ onResolve }) {
    for (const [filter, folder, file] of STAND_INS)
      onResolve({ filter }, ({ importer }) =>
        importer.startsWith(join(ROOT, folder)) ? { path: join(import.meta.dirname, file) } : undefined,
      );
  },
};

/** Starts the real Redis on a socket, with a database for each thread. */
async function startRedis(socket: string): Promise<ChildProcess> {
  const options = ['--save', '', '--appendonly', 'no', '--port', '0', '--databases', '1024'];
  const server = spawn('redis-server', ['--unixsocket', socket, ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.once('exit', () => server.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('exit', () => reject(new Error('redis-server has ended')));
    server.stdout.on('data', (text: Buffer) => text.includes('eady to accept connections') && resolve());
  });
  return server;
}

/** The report of a thread. @throws Error when the thread ends without one */
const awaitReport = (thread: Worker): Promise<Report> =>
  new Promise((resolve, reject) => {
    const fail = () => reject(new Error('A thread of the simulator has ended before its histories did.'));
    thread.once('message', resolve).once('error', reject).once('exit', fail);
  });

export interface SimulationOptions {
  /** Are played before the seeds. */
  readonly plans?: readonly Plan[];
  /** The first seed; 1 when absent. */
  readonly from?: number;
  /** How many seeds; none when absent. */
  readonly seeds?: number;
  /** The store in the histories of seeds; SQLite when absent. */
  readonly store?: StoreKind;
  /** The fault in the gateway. */
  readonly fault?: Fault | undefined;
  /** Ends when as many histories have broken a promise; 5 when absent. */
  readonly maxFound?: number;
  /** One for each core when absent. Each takes a second to start. */
  readonly threadCount?: number;
}

/** Plays plans and seeds. @throws Error when one of its threads ends before they are played */
export async function simulate({
  plans = [],
  from = 1,
  seeds = 0,
  store = 'sqlite',
  fault,
  maxFound = 5,
  threadCount = availableParallelism(),
}: SimulationOptions): Promise<Report> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'foldatlas-simulation-'));
  mkdirSync(CACHE, { recursive: true });
  const bundle = mkdtempSync(join(CACHE, 'simulation-'));
  const threads: Worker[] = [];
  let redis: ChildProcess | undefined;
  try {
    const file = join(bundle, 'worker.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'worker.ts')],
      ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile: file },
      plugins: [standIns, ...(fault === undefined ? [] : [mutate(fault)])],
    });
    const hasRedis = [...plans, { store }].some((plan) => plan.store === 'redis');
    if (hasRedis) redis = await startRedis(redisSocket(folder));
    const step = Math.max(1, Math.min(threadCount, seeds));
    const foundCount = new Int32Array(new SharedArrayBuffer(4));
    for (let first = 0; first < step; first += 1) {
      const task: Task = {
        ...{ from: from + first, to: from + seeds, step, store, maxFound, foundCount, folder },
        plans: first === 0 ? plans : [],
      };
      // A history makes much garbage.
      const resourceLimits = { maxYoungGenerationSizeMb: 64 };
      threads.push(new Worker(file, { workerData: task, resourceLimits }));
    }
    const reports = await Promise.all(threads.map(awaitReport));
    const coverage: Record<string, number> = {};
    for (const [pair, count] of reports.flatMap((report) => Object.entries(report.coverage)))
      coverage[pair] = (coverage[pair] ?? 0) + count;
    return {
      played: reports.reduce((sum, { played }) => sum + played, 0),
      found: reports.flatMap(({ found }) => found),
      coverage,
    };
  } finally {
    for (const thread of threads) await thread.terminate();
    redis?.kill('SIGKILL');
    for (const place of [folder, bundle]) rmSync(place, { recursive: true });
  }
}

const clock = (milliseconds: number): string => {
  const hours = String(Math.floor(milliseconds / 3_600_000)).padStart(4);
  return `${hours}:${new Date(milliseconds).toISOString().slice(14, 23)}`;
};

/** A history as a person reads it. */
export function printHistory({ seed, store, violation, events, lines }: Found, mutant?: string): string {
  const options = [
    store === 'sqlite' ? '' : ` --store ${store}`,
    mutant === undefined ? '' : ` --mutant '${mutant}'`,
  ];
  return [
    `Rule ${violation.rule} is broken after ${events.length} events: ${violation.text}`,
    ...lines.map(({ at, where, what }) => `${clock(at)}  ${where.padEnd(9)} ${what}`),
    `Again: npm run simulate -- --seed ${seed}${options.join('')}`,
  ].join('\n');
}
