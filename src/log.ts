// Log lines: JSON in production, readable otherwise. It prints what it is given and must never be given a token, a signed
// URL or a sequence.

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LEVELS)[number];

type Write = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface Logger {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

/**
 * A logger that drops what is less urgent than `level`.
 *
 * @param json - one JSON object a line instead of readable text
 * @param out - where lines go; standard error when absent, so that standard output stays free
 */
export function createLogger(
  level: LogLevel,
  json: boolean,
  out: (line: string) => void = (line) => process.stderr.write(line),
): Logger {
  const at =
    (own: LogLevel): Write =>
    (message, fields = {}) => {
      if (LEVELS.indexOf(own) > LEVELS.indexOf(level)) return;
      const time = new Date().toISOString();
      const rest = Object.entries(fields).map(
        ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      out(
        json
          ? `${JSON.stringify({ time, level: own, message, ...fields })}\n`
          : `${time.slice(11, 19)} ${own.padEnd(5)} ${message}${rest.join('')}\n`,
      );
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
