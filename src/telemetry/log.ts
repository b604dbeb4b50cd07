// The logger: pino, with JSON lines in production and readable ones otherwise. Error texts, which
// the upstream or a library may have written, lose tokens, signed URLs and sequences here.
import { destination, type LevelWithSilent, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { redact } from './redact.ts';

export type { Logger };

/** An error as text with its causes, without what it may quote of requests and answers. */
const errorText = (error: unknown): string =>
  redact(error instanceof Error ? stdSerializers.err(error).stack : String(error));

/** One JSON line as a person reads it: time, level, message, fields. */
function readable(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}${rest.join('')}\n`;
}

/**
 * Lines are written together: one write for each costs more than the rest of a short answer. With
 * each line pino measures what is buffered, so that a larger buffer costs more than it saves.
 */
const BUFFERED_BYTES = 14 * 1024;
const FLUSH_INTERVAL_MS = 100;
/** Lines that wait for a slow reader; more are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Where lines are written. */
interface LogStream {
  write(line: string): boolean;
  flush(): void;
}

let standardError: LogStream | undefined;

/**
 * Standard error, shared by all loggers. A full disk neither ends the process nor keeps it from
 * ending.
 */
function openStandardError(): LogStream {
  if (standardError !== undefined) return standardError;
  const stream = destination({
    dest: 2,
    sync: false,
    minLength: BUFFERED_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  });
  let isFailing = false;
  stream.on('error', () => {
    isFailing = true;
  });
  stream.on('write', () => {
    isFailing = false;
  });
  // Before pino's own listener, which would try for ever to write the rest.
  process.prependListener('exit', () => isFailing && stream.destroy());
  standardError = stream;
  return stream;
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
  const stderr = write === undefined ? openStandardError() : undefined;
  const writeLine = write ?? ((line: string) => void stderr?.write(line));
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: errorText },
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
