// The logger: pino, with JSON lines in production and readable ones otherwise. Error texts, which
// the upstream or a library may have written, lose tokens, signed URLs and sequences here.
import { destination, type LevelWithSilent, type Logger, pino, stdSerializers } from 'pino';
import { OperationalError } from '../async/operational-error.ts';
import { redact } from './redact.ts';

export type { Logger };

/** The message of an error, and those of its causes that say something else. */
function messages(error: Error): string {
  const { message, cause } = error;
  const rest = cause instanceof Error ? messages(cause) : '';
  return message.includes(rest) ? message : `${message} (${rest})`;
}

/** An error as text with its causes, without what it may quote of requests and answers. */
function errorText(error: unknown): string {
  if (error instanceof OperationalError) return redact(messages(error));
  return redact(error instanceof Error ? stdSerializers.err(error).stack : String(error));
}

/** One JSON line as a person reads it: time, level, message, fields. */
function readable(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}${rest.join('')}\n`;
}

let second = 0;
let secondText = '';

/**
 * The time in a line, as ISO 8601. The text of a second is made once: it takes as long as half of
 * the line.
 */
function timestamp(): string {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    secondText = new Date(second).toISOString().slice(0, -'000Z'.length);
  }
  return `,"time":"${secondText}${String(milliseconds).padStart(3, '0')}Z"`;
}

/**
 * Lines are written together: one write for each costs more than the rest of a short answer. Pino's
 * own buffer measures all that it holds with every line.
 */
const GATHERED_CHARACTERS = 16 * 1024;
const FLUSH_INTERVAL_MS = 100;
/** More than what is gathered: pino writes when it is told to, and at the end of the process. */
const WRITE_BYTES = 64 * 1024;
/** Lines that wait for a slow reader; more are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Where lines are written. */
interface LogStream {
  write(line: string): void;
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
    minLength: WRITE_BYTES,
    maxWrite: WRITE_BYTES + 1,
    maxLength: MAX_WAITING_BYTES,
  });
  let gathered = '';
  let isFailing = false;
  stream.on('error', () => {
    isFailing = true;
  });
  stream.on('write', () => {
    isFailing = false;
  });
  function handOver(): void {
    if (gathered !== '') stream.write(gathered);
    gathered = '';
  }
  function flush(): void {
    handOver();
    stream.flush();
  }
  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  // Before pino's own listener, which would try for ever to write the rest.
  process.prependListener('exit', () => (isFailing ? stream.destroy() : handOver()));
  standardError = {
    write(line) {
      gathered += line;
      if (gathered.length >= GATHERED_CHARACTERS) flush();
    },
    flush,
  };
  return standardError;
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
  const writeLine = write ?? ((line: string) => stderr?.write(line));
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp,
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
