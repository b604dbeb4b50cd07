// Bundles the simulator with the gateway's source, with or without a mutation in it, and plays
// seeds on every core.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build, type Plugin } from 'esbuild';
import { MUTANTS, type MutantName } from './mutants.ts';
import type { Plan, StoreKind } from './plan.ts';
import { redisSocket } from './redis.ts';
import type { Found, Report, Task } from './worker.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/simulation');
/** Files in memory cost no time for syncing. */
const MEMORY = '/dev/shm';

/** Puts a fault into a file of the gateway. @throws Error when the text it replaces is not there */
function mutate(name: MutantName): Plugin {
  const { file, replacements } = MUTANTS[name];
  return {
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
  };
}

/** Files of the simulator that stand in for others below a folder of the gateway. */
const STAND_INS = [
  [/\/sqlite\.ts$/, 'src', 'sqlite.ts'],
  [/\/redis-connection\.ts$/, 'src', 'redis.ts'],
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

/** Starts the real Redis on a socket. */
async function startRedis(socket: string): Promise<ChildProcess> {
  const memory = ['--save', '', '--appendonly', 'no', '--port', '0'];
  const server = spawn('redis-server', ['--unixsocket', socket, ...memory], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.once('exit', () => server.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).once('exit', () => reject(new Error('redis-server has ended')));
    server.stdout.on('data', (text: Buffer) => text.includes('eady to accept connections') && resolve());
  });
  return server;
}

/** The code of a thread, which plays one task after the other. */
const THREAD = `require('node:worker_threads').parentPort.on('message', async function ({ file, task }) {
  this.postMessage(await (await import(file)).run(task));
});`;

interface Thread {
  readonly worker: Worker;
  readonly folder: string;
  redis?: Promise<ChildProcess>;
}

export interface SimulationOptions {
  readonly from?: number;
  readonly seeds?: number;
  /** Plays these instead of seeds. */
  readonly plans?: readonly Plan[];
  /** The store in the histories of seeds. */
  readonly store?: StoreKind;
  /** Ends at the first broken promise. */
  readonly isFirstOnly?: boolean;
}

/** Plays histories on every core: starting a thread takes longer than most of them. */
export class Simulator {
  readonly #folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'foldatlas-simulation-'));
  readonly #threads: Thread[] = [];
  /** The simulator and the gateway. */
  readonly #file: string;
  readonly #built: Promise<unknown>;

  /** @param mutant - the fault in the gateway */
  constructor(mutant?: MutantName) {
    this.#file = join(CACHE, `${(mutant ?? 'gateway').replaceAll(' ', '-')}-${process.pid}.mjs`);
    this.#built = build({
      entryPoints: [join(import.meta.dirname, 'worker.ts')],
      ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile: this.#file },
      plugins: [standIns, ...(mutant === undefined ? [] : [mutate(mutant)])],
    });
  }

  #thread(index: number): Thread {
    const folder = join(this.#folder, String(index));
    const known = this.#threads[index];
    if (known !== undefined) return known;
    mkdirSync(folder);
    // A history makes much garbage.
    const resourceLimits = { maxYoungGenerationSizeMb: 64 };
    const thread = { folder, worker: new Worker(THREAD, { eval: true, resourceLimits }) };
    this.#threads.push(thread);
    return thread;
  }

  /** Plays seeds or plans. */
  async play(options: SimulationOptions): Promise<Report> {
    const { from = 1, seeds = 0, plans, store = 'sqlite', isFirstOnly = false } = options;
    await this.#built;
    const step = plans === undefined ? Math.min(availableParallelism(), seeds) : 1;
    const threads = Array.from({ length: step }, (_, index) => this.#thread(index));
    const hasRedis = store === 'redis' || plans?.some((plan) => plan.store === 'redis') === true;
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const playTask = async (thread: Thread, first: number): Promise<Report> => {
      const { worker, folder } = thread;
      if (hasRedis) thread.redis ??= startRedis(redisSocket(folder));
      await thread.redis;
      const task: Task = { from: from + first, to: from + seeds, step, isFirstOnly, stop, folder, store };
      const answer = once(worker, 'message');
      worker.postMessage({ file: this.#file, task: plans === undefined ? task : { ...task, plans } });
      const [report]: Report[] = await answer;
      if (report === undefined) throw new Error('A thread has ended without a report.');
      return report;
    };
    const reports = await Promise.all(threads.map(playTask));
    const coverage: Record<string, number> = {};
    for (const report of reports)
      for (const [pair, count] of Object.entries(report.coverage))
        coverage[pair] = (coverage[pair] ?? 0) + count;
    return {
      played: reports.reduce((sum, { played }) => sum + played, 0),
      found: reports.flatMap(({ found }) => found),
      coverage,
    };
  }

  async close(): Promise<void> {
    for (const { worker, redis } of this.#threads) {
      await worker.terminate();
      (await redis)?.kill('SIGKILL');
    }
    await this.#built;
    rmSync(this.#file);
    rmSync(this.#folder, { recursive: true });
  }
}

const clock = (milliseconds: number): string => {
  const seconds = milliseconds / 1000;
  return `${String(Math.floor(seconds / 3600)).padStart(4)}:${String(Math.floor(seconds / 60) % 60).padStart(2, '0')}:${(seconds % 60).toFixed(3).padStart(6, '0')}`;
};

/** A history as a person reads it. */
export function printHistory({ seed, store, violation, events, lines }: Found, mutant?: MutantName): string {
  const options = [
    store === 'sqlite' ? '' : ` --store ${store}`,
    mutant === undefined ? '' : ` --mutant '${mutant}'`,
  ];
  const replay = `npm run simulate -- --seed ${seed}${options.join('')}`;
  return [
    `Rule ${violation.rule} is broken after ${events.length} events: ${violation.text}`,
    ...lines.map(({ at, where, what }) => `${clock(at)}  ${where.padEnd(9)} ${what}`),
    `Again: ${replay}`,
  ].join('\n');
}
