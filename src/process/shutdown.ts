// Graceful shutdown: once, within a deadline; a second signal or an uncaught fault exits at once.
import { constants } from 'node:os';
import type { Logger } from '../telemetry/log.ts';

export interface EndingOptions {
  readonly log: Logger;
  readonly stop: () => Promise<void>;
  /** Milliseconds that `stop` may take; after that the process exits with code 1. */
  readonly deadlineMs: number;
  /** Signals that stop the process in order; a second one ends it at once. */
  readonly signals: readonly ('SIGTERM' | 'SIGINT')[];
}

/** Ctrl-C reaches the process twice where npm started it: from the terminal, and passed on by npm. */
const ONE_SIGNAL_MS = 500;

export function installShutdownHandler({ log, stop, deadlineMs, signals }: EndingOptions) {
  let code: number | undefined;
  let signalledAt = Number.NEGATIVE_INFINITY;

  function end(wanted: number): void {
    if (code !== undefined) return;
    code = wanted;
    setTimeout(() => {
      log.error({ milliseconds: deadlineMs }, 'stopping took too long; the process ends now');
      process.exit(1);
    }, deadlineMs);
    stop().then(
      () => process.exit(wanted),
      (error: unknown) => {
        log.error({ error }, 'stopping failed');
        process.exit(1);
      },
    );
  }
  for (const signal of signals) {
    process.on(signal, () => {
      if (performance.now() - signalledAt < ONE_SIGNAL_MS) return;
      signalledAt = performance.now();
      if (code !== undefined) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, 'stopping');
      end(0);
    });
  }
  // Whatever threw it may have left anything half done: nothing may go on from there.
  const fault = (what: string) => (error: unknown) => {
    log.error({ error }, what);
    end(1);
  };
  process.on('uncaughtException', fault('uncaught exception'));
  process.on('unhandledRejection', fault('unhandled rejection'));
  return {
    /** Ends the process with this code after everything was stopped. Later calls change nothing. */
    end,
  };
}
