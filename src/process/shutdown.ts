// How the process stops: on a signal or a fault, in one order, within a deadline.
import { constants } from 'node:os';
import { withTimeout } from '../async/deadline.ts';
import type { Logger } from '../telemetry/log.ts';

/** How long closing the store and the connections to the upstream may take. */
const CLOSE_MS = 3_000;
/** How long the whole stop may take beyond the time for requests in flight. */
const DEADLINE_MS = 5_000;
/**
 * Ctrl-C reaches the process twice where npm started it: from the terminal, and passed on by npm.
 */
const ONE_SIGNAL_MS = 500;

interface Closable {
  /** Takes no more work, and cuts what lasts longer. */
  close(milliseconds: number): Promise<void>;
}

export interface Serving {
  readonly gateway: { drain(): void; submitted(): Promise<void>; close(): Promise<void> };
  readonly sockets: Closable;
  readonly port: Closable;
  readonly tracing: { close(): Promise<void> } | undefined;
  readonly log: Logger;
}

/**
 * Fails /ready, takes no new connections, ends streams, waits for requests and submissions in
 * flight, then closes the store and flushes traces.
 *
 * @param graceMs - for requests and submissions in flight
 * @returns whether all of it ended in time
 */
export async function stopServing(
  { gateway, sockets, port, tracing, log }: Serving,
  graceMs: number,
): Promise<boolean> {
  let isInTime = true;
  const giveUp = (text: string) => (): void => {
    isInTime = false;
    log.warn(text);
  };
  const end = performance.now() + graceMs;
  const remainingMs = () => Math.max(0, end - performance.now());
  gateway.drain();
  await Promise.all([sockets.close(remainingMs()), port.close(remainingMs())]);
  await withTimeout(gateway.submitted(), remainingMs(), giveUp('a submission did not end in time'));
  await withTimeout(gateway.close(), CLOSE_MS, giveUp('the store did not close in time'));
  await tracing?.close();
  return isInTime;
}

/**
 * Stops the process, once, on SIGTERM, SIGINT or an uncaught fault. A second signal ends it at
 * once.
 *
 * @param stop - its end is awaited for `graceMs` and 5 s more; after that, and where it did not end
 *   all in time, the exit code is 1
 */
export function installShutdownHandler(log: Logger, graceMs: number, stop: () => Promise<boolean>): void {
  let isStopping = false;
  let signalledAt = Number.NEGATIVE_INFINITY;

  async function end(code: 0 | 1): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    const isInTime = await withTimeout(stop(), graceMs + DEADLINE_MS, () => {
      log.error({ milliseconds: graceMs + DEADLINE_MS }, 'stopping took too long; the process ends now');
      return false;
    }).catch((error: unknown) => {
      log.error({ error }, 'stopping failed');
      return false;
    });
    process.exit(isInTime ? code : 1);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (performance.now() - signalledAt < ONE_SIGNAL_MS) return;
      signalledAt = performance.now();
      if (isStopping) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'stopping');
      void end(0);
    });
  // The code that threw may have left anything half done, so the process does not go on.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.error({ error }, event === 'uncaughtException' ? 'uncaught exception' : 'unhandled rejection');
      void end(1);
    });
}
