// The channel between the primary and its workers: messages, questions with their answers, and the
// worker's end of it. Other messages on the channel are ignored.
import type { EventEmitter } from 'node:events';
import type { Gateway } from '../gateway.ts';
import { isFields } from '../upstream/renames.ts';

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
export function send(channel: Channel, message: Message): void {
  if (channel.connected) channel.send?.(message, undefined, undefined, () => undefined);
}

/** Calls `hear` with each message of ours. @returns stops it */
export function listenTo(channel: Channel, hear: (message: Message) => void): () => void {
  const listen = (raw: unknown) => {
    if (isFields(raw) && Object.hasOwn(raw, 'foldatlas')) hear(raw as Message);
  };
  channel.on('message', listen);
  return () => void channel.off('message', listen);
}

let questions = 0;

/** Asks the other side for metrics. @returns undefined when it does not answer in time */
export function askMetrics(channel: Channel, milliseconds: number): Promise<string | object[] | undefined> {
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

export interface WorkerHandlers {
  readonly gateway: Gateway;
  readonly url: string;
  readonly localUrl: string;
  readonly stop: () => void;
}

/** Answers the primary's messages, and stops the worker when the channel closes. */
export function answerPrimary({ gateway, url, localUrl, stop }: WorkerHandlers): void {
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
