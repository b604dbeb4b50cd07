// The worker's end of the channel to the primary.
import type { Gateway } from '../gateway.ts';
import { type Message, readMessage } from './messages.ts';

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
