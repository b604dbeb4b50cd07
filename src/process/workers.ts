// The primary process of WORKERS: starts the workers, replaces those that exit, sums their metrics,
// stops them.
// The channel between the primary and its workers: messages, questions with their answers, and the worker's
// end of it. Other messages on the channel are ignored.

import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import type { EventEmitter } from 'node:events';
import { AggregatorRegistry } from 'prom-client';
import type { Logger } from '../telemetry/log.ts';
import { isFields } from '../upstream/renames.ts';
import type { Served } from './serve.ts';

export type Message =
  /** A worker takes requests at this address. */
  | { readonly foldatlas: 'listening'; readonly url: string; readonly localUrl: string }
  /** A worker asks for the metrics of all workers, the primary for those of one. */
  | { readonly foldatlas: 'metrics?'; readonly id: number }
  | { readonly foldatlas: 'metrics'; readonly id: number; readonly metrics: string | object[] }
  /** The primary to a worker. */
  | { readonly foldatlas: 'stop' | 'reload' };

/** The process itself in a worker, the process of a worker in the primary. */
type Channel = EventEmitter & {
  readonly connected: boolean;
  send?: (message: Message, handle: undefined, options: undefined, done: () => void) => boolean;
};

/** Sends a message; to a process that is gone, nothing. */
function send(channel: Channel, message: Message): void {
  if (channel.connected) channel.send?.(message, undefined, undefined, () => undefined);
}

/** Calls `hear` with each message of ours. @returns stops it */
function listenTo(channel: Channel, hear: (message: Message) => void): () => void {
  const listen = (raw: unknown) => {
    if (isFields(raw) && Object.hasOwn(raw, 'foldatlas')) hear(raw as Message);
  };
  channel.on('message', listen);
  return () => void channel.off('message', listen);
}

let questions = 0;

/** Asks the other side for metrics. @returns undefined when it does not answer in time */
function askMetrics(channel: Channel, milliseconds: number): Promise<string | object[] | undefined> {
  questions += 1;
  const id = questions;
  return new Promise((resolve) => {
    const finish = (metrics?: string | object[]) => {
      clearTimeout(late);
      stop();
      resolve(metrics);
    };
    const late = setTimeout(finish, milliseconds);
    const stop = listenTo(channel, (heard) => {
      if (heard.foldatlas === 'metrics' && heard.id === id) finish(heard.metrics);
    });
    send(channel, { foldatlas: 'metrics?', id });
  });
}

/** How long the metrics of all workers may take. */
const METRICS_MS = 3_000;

/** The metrics of all workers as the primary adds them up. @throws Error when it does not answer */
export async function allMetrics(): Promise<string> {
  const metrics = await askMetrics(process, METRICS_MS);
  if (typeof metrics === 'string') return metrics;
  throw new Error('The primary process did not give the metrics.');
}

/** Answers the primary's messages, and stops the worker when the channel closes. */
export function answerPrimary({ gateway, url, localUrl }: Served, stop: () => void): void {
  listenTo(process, (heard) => {
    if (heard.foldatlas === 'stop') stop();
    if (heard.foldatlas === 'reload') gateway.reload();
    if (heard.foldatlas !== 'metrics?') return;
    const { id } = heard;
    // A worker that does not answer in time is left out of the sum.
    gateway.metrics.read().then(
      (values) => send(process, { foldatlas: 'metrics', id, metrics: JSON.parse(JSON.stringify(values)) }),
      () => undefined,
    );
  });
  process.on('disconnect', stop);
  send(process, { foldatlas: 'listening', url, localUrl });
}

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
const WORKER_METRICS_MS = 2_000;

const living = (): Worker[] =>
  Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true) as Worker[];

/** The metrics of a worker that stay in the sum when it has ended. */
const countersOf = (metrics: readonly object[]): object[] =>
  metrics.filter((metric) => isFields(metric) && ['counter', 'histogram'].includes(String(metric.type)));

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
  /** The last metrics of each worker, and the counters of all that are gone: no sum may go back. */
  const answers = new Map<number, object[]>();
  let gone: Promise<object[]> = Promise.resolve([]);
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
      // While it started, it could not hear of a stop.
      if (stopping) return send(worker.process, { foldatlas: 'stop' });
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
    const counted = countersOf(answers.get(worker.id) ?? []);
    answers.delete(worker.id);
    gone = gone.then((sum) => AggregatorRegistry.aggregate([sum, counted]).getMetricsAsJSON());
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

  /** Of workers that do not answer in time, what they had counted before. */
  async function metrics(): Promise<string> {
    const inTime = new Set<number>();
    const read = async ({ id, process }: Worker) => {
      const answer = await askMetrics(process, WORKER_METRICS_MS);
      if (typeof answer !== 'object' || !startedAt.has(id)) return;
      answers.set(id, answer);
      inTime.add(id);
    };
    await Promise.all(living().map(read));
    const values = [await gone];
    for (const [id, answer] of answers) values.push(inTime.has(id) ? answer : countersOf(answer));
    const own =
      '# HELP foldatlas_workers Processes that answer requests.\n# TYPE foldatlas_workers gauge\n' +
      `foldatlas_workers ${listening.size}\n`;
    return `${await AggregatorRegistry.aggregate(values).metrics()}${own}`;
  }

  for (let i = 0; i < workers; i += 1) start();

  return {
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
