// Log lines by pino: JSON in production, readable otherwise. It must never be given a token, a signed URL or a sequence; texts of
// errors, which others write, lose them here.
import { type DestinationStream, destination, pino, stdTimeFunctions } from 'pino';
import { redact } from './redact.ts';

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LEVELS)[number];

type Fields = Readonly<Record<string, unknown>>;
type Write = (message: string, fields?: Fields) => void;

export interface Logger {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
  /** Whether what is said by `debug` is written: what is put together for it alone need not be. */
  readonly tellsDebug: boolean;
  /** The line that every request ends with. @param members - its fields as members of a JSON object, no error among them */
  request(level: 'info' | 'debug', members: string): void;
  /** Writes out what is still in memory: the last thing that a process does. */
  flush(): void;
}

/** Errors below an error that are told with it. */
const DEEPEST_CAUSE = 3;

/** An error as text with its causes, without what it may quote of requests and answers. */
function errorText(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return redact(String(error));
  const own = redact(error.stack ?? error.message);
  return error.cause === undefined || depth >= DEEPEST_CAUSE
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

/** Characters that are written at once: a write for each line would cost more than all else that is done for a small answer. */
const AT_ONCE = 32_768;
const WRITTEN_WITHIN_MS = 100;

type LogStream = DestinationStream & { hand(): void; flushSync(): void };

/** Standard error, so that standard output stays free; written behind the requests, and to the end when the process ends. */
function openStandardError(): LogStream {
  const out = destination({ fd: 2, sync: false, maxWrite: 2 * AT_ONCE });
  /** What waits, as bytes: of lines put together as text each letter would be looked up again, and their pieces kept until then. */
  const waiting = Buffer.allocUnsafeSlow(2 * AT_ONCE);
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const hand = () => {
    clearTimeout(timer);
    timer = undefined;
    if (bytes > 0) out.write(waiting.toString('utf8', 0, bytes));
    bytes = 0;
  };
  const flushSync = () => {
    hand();
    out.flushSync();
  };
  process.once('exit', () => {
    // A stream that was never opened has nobody to tell.
    try {
      flushSync();
    } catch {}
  });
  return {
    write(line) {
      // No letter takes more than three bytes.
      const most = 3 * line.length;
      if (most > waiting.length - bytes) hand();
      if (most > waiting.length) out.write(line);
      else bytes += waiting.write(line, bytes);
      if (bytes >= AT_ONCE) hand();
      else timer ??= setTimeout(hand, WRITTEN_WITHIN_MS).unref();
    },
    hand,
    flushSync,
  };
}

let openedStandardError: LogStream | undefined;

/** One stream and one listener for the end of the process, however many loggers write to it. */
function standardError(): LogStream {
  openedStandardError ??= openStandardError();
  return openedStandardError;
}

/** The time as a line shows it, made once for all lines of a millisecond. */
function openTime(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) text = new Date(now).toISOString();
    at = now;
    return text;
  };
}

/**
 * A logger that drops what is less urgent than `level`. A field named `error` may hold whatever was thrown.
 *
 * @param json - one JSON object a line instead of readable text
 * @param out - where lines go; standard error when absent
 */
export function createLogger(level: LogLevel, json: boolean, out?: (line: string) => void): Logger {
  const nothing = () => undefined;
  const stream = out === undefined ? standardError() : { write: out, hand: nothing, flushSync: nothing };
  const log = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => errorText(error) },
    },
    json ? stream : { write: (line: string) => stream.write(readable(line)) },
  );
  const at =
    (own: Exclude<LogLevel, 'silent'>): Write =>
    (message, fields) =>
      fields === undefined ? log[own](message) : log[own](fields, message);
  // Trouble does not wait for company: who looks now should see it, and the process may end.
  const soon =
    (write: Write): Write =>
    (message, fields) => {
      write(message, fields);
      stream.hand();
    };
  const isTold = { info: log.isLevelEnabled('info'), debug: log.isLevelEnabled('debug') };
  const time = openTime();
  return {
    // As pino would write it, in a tenth of the time: there is one for each request.
    request(own, members) {
      if (!isTold[own]) return;
      const line = `{"level":"${own}","time":"${time()}",${members},"message":"request"}\n`;
      stream.write(json ? line : readable(line));
    },
    error: soon(at('error')),
    warn: soon(at('warn')),
    info: at('info'),
    debug: at('debug'),
    tellsDebug: isTold.debug,
    flush: () => {
      // A stream that is not open yet or no more has nothing to flush.
      try {
        stream.flushSync();
      } catch {}
    },
  };
}
