// The channel between the primary and its workers: messages, and the worker's end of it. Other messages
// on the channel are ignored.
import { z } from 'zod';
import type { Gateway } from '../gateway.ts';

/** As prom-client writes and adds them up. */
const metricValues = z.array(z.custom<object>((value) => typeof value === 'object' && value !== null));

const message = z.discriminatedUnion('foldatlas', [
  /** A worker to the primary: it takes requests at this address. */
  z.object({ foldatlas: z.literal('listening'), url: z.string(), localUrl: z.string() }),
  /** A worker to the primary: send me the metrics of all workers. */
  z.object({ foldatlas: z.literal('all-metrics'), id: z.number() }),
  /** The primary's answer. */
  z.object({ foldatlas: z.literal('metrics-text'), id: z.number(), text: z.string() }),
  /** The primary to a worker: what have you counted? And the answer. */
  z.object({ foldatlas: z.literal('own-metrics'), id: z.number() }),
  z.object({ foldatlas: z.literal('metrics-values'), id: z.number(), values: metricValues }),
  /** The primary to a worker. */
  z.object({ foldatlas: z.literal('stop') }),
  z.object({ foldatlas: z.literal('reload') }),
]);

export type Message = z.output<typeof message>;

/** A message of ours; undefined for anything else. */
export function readMessage(raw: unknown): Message | undefined {
  const parsed = message.safeParse(raw);
  return parsed.success ? parsed.data : undefined;
}

/** How long the metrics of all workers may take. */
const METRICS_MS = 3_000;

const send = (message: Message): void => {
  // A primary that is gone is noticed by `disconnect`.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};

/** The metrics of all workers as the primary adds them up. @throws Error when it does not answer */
export function allMetrics(): Promise<string> {
  const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(late);
      process.off('message', hear);
    };
    const hear = (raw: unknown) => {
      const heard = readMessage(raw);
      if (heard?.foldatlas !== 'metrics-text' || heard.id !== id) return;
      stop();
      resolve(heard.text);
    };
    const late = setTimeout(() => {
      stop();
      reject(new Error('The primary process did not give the metrics.'));
    }, METRICS_MS);
    process.on('message', hear);
    send({ foldatlas: 'all-metrics', id });
  });
}

export interface WorkerHandlers {
  readonly gateway: Gateway;
  readonly url: string;
  readonly localUrl: string;
  readonly stop: () => void;
  readonly reload: () => void;
}

/** Answers the primary's messages, and stops the worker when the channel closes. */
export function answerPrimary({ gateway, url, localUrl, stop, reload }: WorkerHandlers): void {
  process.on('message', (raw) => {
    const heard = readMessage(raw);
    if (heard?.foldatlas === 'stop') stop();
    if (heard?.foldatlas === 'reload') reload();
    if (heard?.foldatlas === 'own-metrics') {
      const { id } = heard;
      // A worker that does not answer in time is left out of the sum.
      gateway.metrics.read().then(
        (values) => send({ foldatlas: 'metrics-values', id, values: JSON.parse(JSON.stringify(values)) }),
        () => undefined,
      );
    }
  });
  process.on('disconnect', stop);
  send({ foldatlas: 'listening', url, localUrl });
}
