// The logger: pino, with JSON lines in production and readable ones otherwise. Error texts, which
// the upstream or a library may have written, lose tokens, signed URLs and sequences here.
import { destination, type LevelWithSilent, type Logger, pino, stdTimeFunctions } from 'pino';
import { redact } from './redact.ts';

export type { Logger };

/** Nested causes of an error that are logged with it. */
const MAX_CAUSE_DEPTH = 3;

/** An error as text with its causes, without what it may quote of requests and answers. */
function errorText(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return redact(String(error));
  const own = redact(error.stack ?? error.message);
  return error.cause === undefined || depth >= MAX_CAUSE_DEPTH
    ? own
    : `${own}\n  because: ${errorText(error.cause, depth + 1)}`;
}

/** One JSON line as a person reads it: time, level, message, fields. */
function readable(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}${rest.join('')}\n`;
}

/** Lines are written together: one write for each costs more than the rest of a short answer. */
const BUFFERED_BYTES = 32_768;
const FLUSH_INTERVAL_MS = 100;
/** Lines that wait for a reader that is slow, or for room on a disk; more are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

let openedStandardError: ReturnType<typeof destination> | undefined;

/** A log on a full disk must not end the process, nor keep it from ending. */
function openStandardError() {
  const stream = destination({
    dest: 2,
    sync: false,
    minLength: BUFFERED_BYTES,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: 2 * BUFFERED_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  });
  let isFailing = false;
  stream.on('error', () => {
    isFailing = true;
  });
  stream.on('write', () => {
    isFailing = false;
  });
  // Before pino's own listener, which tries for ever to write the rest.
  process.prependListener('exit', () => {
    if (isFailing) stream.destroy();
  });
  return stream;
}

/** One stream, and one listener for the end of the process, for all loggers. */
function standardError() {
  openedStandardError ??= openStandardError();
  return openedStandardError;
}

/** `warn` in pino's numbers. */
const WARN = 40;

/**
 * A logger that drops what is less urgent than `level`. A field named `error` may hold any thrown
 * value.
 *
 * @param json - one JSON object a line instead of readable text
 * @param write - receives the lines; standard error when absent, so that standard output stays free
 */
export function createLogger(level: LevelWithSilent, json: boolean, write?: (line: string) => void): Logger {
  const stderr = write === undefined ? standardError() : undefined;
  const writeLine = write ?? ((line: string) => void stderr?.write(line));
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => errorText(error) },
      hooks: {
        logMethod(line, method, number) {
          try {
            method.apply(this, line);
            // Warnings and errors are shown at once: the process may be about to end.
            if (number >= WARN) stderr?.flush();
          } catch {
            // A line that cannot be written is dropped: it must not change what is answered.
          }
        },
      },
    },
    { write: json ? writeLine : (line) => writeLine(readable(line)) },
  );
}
