// The primary process of WORKERS: starts the workers, replaces those that exit, sums their metrics,
// stops them.
import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { Logger } from '../telemetry/log.ts';
import { askMetrics, listenTo, send } from './worker-ipc.ts';

export interface PrimaryOptions {
  readonly workers: number;
  /** Given to each worker beside this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Told once, when all listen. */
  readonly onListening: (url: string, localUrl: string) => void;
  /** Told when there is no use in going on: no worker could start, or they keep dying. */
  readonly onGivingUp: (code: number) => void;
}

/** How long a worker may take to give its metrics. */
const METRICS_MS = 2_000;

const living = (): Worker[] =>
  Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true) as Worker[];

/** A worker that lived this long died of something else than its start. */
const LONG_LIFE_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;
/** Early deaths in a row, after which another start is useless. */
const MAX_EARLY_DEATHS = 8;

/**
 * Exponential back-off: from a worker's lifetime to the delay of its replacement; undefined to give
 * up.
 */
export function createRestartBackoff(): (livedMilliseconds: number) => number | undefined {
  let deaths = 0;
  return (lived) => {
    deaths = lived >= LONG_LIFE_MS ? 1 : deaths + 1;
    if (deaths > MAX_EARLY_DEATHS) return undefined;
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (deaths - 1));
  };
}

export function startWorkers(options: PrimaryOptions) {
  const { workers, env, log, onListening, onGivingUp } = options;
  const listening = new Set<number>();
  const startedAt = new Map<number, number>();
  const restartAfter = createRestartBackoff();
  const waiting = new Set<NodeJS.Timeout>();
  let everReady = false;
  let stopping = false;

  function start(): void {
    const worker = cluster.fork(env);
    startedAt.set(worker.id, Date.now());
    log.info({ worker: worker.id, pid: worker.process.pid }, 'worker started');
    listenTo(worker.process, (heard) => {
      if (heard.foldatlas === 'metrics?') {
        const { id } = heard;
        void metrics().then((text) => send(worker.process, { foldatlas: 'metrics', id, metrics: text }));
      }
      if (heard.foldatlas !== 'listening') return;
      listening.add(worker.id);
      if (everReady || listening.size < workers) return;
      everReady = true;
      onListening(heard.url, heard.localUrl);
    });
  }

  cluster.on('exit', (worker, code, signal) => {
    const lived = Date.now() - (startedAt.get(worker.id) ?? 0);
    startedAt.delete(worker.id);
    listening.delete(worker.id);
    if (stopping) return;
    const died = { worker: worker.id, ...(signal === null ? { code } : { signal }) };
    if (!everReady) {
      log.error(died, 'a worker could not start');
      return onGivingUp(code === 0 ? 1 : (code ?? 1));
    }
    const pause = restartAfter(lived);
    if (pause === undefined) {
      log.error(died, 'workers keep dying; giving up');
      return onGivingUp(1);
    }
    log.error({ ...died, inMilliseconds: pause }, 'a worker died; another one is started');
    const timer = setTimeout(() => {
      waiting.delete(timer);
      start();
    }, pause);
    waiting.add(timer);
  });

  /** Workers that do not answer in time are left out. */
  async function metrics(): Promise<string> {
    const answers = await Promise.all(living().map((worker) => askMetrics(worker.process, METRICS_MS)));
    const values = answers.filter((answer) => typeof answer === 'object');
    const own =
      '# HELP foldatlas_workers Processes that answer requests.\n# TYPE foldatlas_workers gauge\n' +
      `foldatlas_workers ${listening.size}\n`;
    return `${await AggregatorRegistry.aggregate(values).metrics()}${own}`;
  }

  for (let i = 0; i < workers; i += 1) start();

  return {
    /** The metrics of all workers, added up. */
    metrics,
    reload() {
      for (const worker of living()) send(worker.process, { foldatlas: 'reload' });
    },
    /** Stops all workers in order; those that take longer are killed. */
    async stop(milliseconds: number) {
      stopping = true;
      for (const timer of waiting) clearTimeout(timer);
      const all = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      const ended = all.map((worker) =>
        worker.isDead() ? undefined : new Promise<void>((resolve) => worker.once('exit', () => resolve())),
      );
      for (const worker of all) send(worker.process, { foldatlas: 'stop' });
      const late = setTimeout(() => {
        for (const worker of all) worker.process.kill('SIGKILL');
      }, milliseconds);
      await Promise.all(ended);
      clearTimeout(late);
    },
  };
}
