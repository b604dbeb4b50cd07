// The process as commands see it: environment, data on standard output, messages on standard error.
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { plainLines } from '../plain-text.ts';

/** Exit codes, the same for every command. */
export const EXIT = {
  ok: 0,
  /** The command ran and found that the service has changed, or could not see all of it. */
  notAllGood: 1,
  /** The service or the store cannot be reached, or refuses. */
  unreachable: 2,
  /** EX_USAGE: the command line is wrong. */
  usage: 64,
  /** EX_SOFTWARE: a fault of our own. */
  fault: 70,
  /** EX_CONFIG: the configuration is wrong. */
  config: 78,
} as const;

/** Ends a command with an exit code and a sentence on standard error. */
export class CliExit extends Error {
  readonly exit: number;
  constructor(exit: number, message: string) {
    super(message);
    this.name = 'CliExit';
    this.exit = exit;
  }
}

/** The process as a command sees it. */
export interface Session {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes data to standard output. Resolves when a slow reader has taken it. */
  out(text: string): Promise<void>;
  /** Writes a message to standard error. */
  say(line: string): void;
}

export function createSession(): Session {
  // The reader of the pipe has closed it, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? 0 : EXIT.fault),
  );
  process.stderr.on('error', () => undefined);
  return {
    env: process.env,
    out: (text) =>
      new Promise((resolve) =>
        process.stdout.write(process.stdout.isTTY ? plainLines(text) : text, () => resolve()),
      ),
    say: (line) => void process.stderr.write(`${plainLines(line)}\n`),
  };
}

export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliExit(EXIT.usage, `${option}: ${errorMessage(error)}`);
  }
}

/** Reads the configuration. @throws ConfigError */
export async function loadConfig({ env }: Session): Promise<Config> {
  const { readConfig } = await import('../config.ts');
  return readConfig(env);
}

/**
 * The token: of the file, else of the environment; undefined when there is none.
 *
 * @throws CliExit for what no header can have, without quoting it
 */
export function readToken({ env }: Session, file: string | undefined): string | undefined {
  const place = file === undefined ? 'FOLDATLAS_TOKEN' : '--token-file';
  const token = (file === undefined ? (env.FOLDATLAS_TOKEN ?? '') : readText(file, place)).trim();
  if (token === '' && file === undefined) return undefined;
  if (token === '') throw new CliExit(EXIT.usage, '--token-file: the file is empty.');
  if (/^[!-~]+$/.test(token)) return token;
  throw new CliExit(EXIT.usage, `${place}: a token is one word of ASCII letters, digits and signs.`);
}
