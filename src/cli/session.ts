// The process as commands see it: environment, data on stdout, messages on stderr, Ctrl-C as an
// AbortSignal.
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { plainText } from '../plain-text.ts';

/** Exit codes, the same for every command. */
export const EXIT = {
  ok: 0,
  /** The command ran and found problems: a service that changed, failed tasks, errors in an answer. */
  notAllGood: 1,
  /** What was asked cannot be reached, or refuses. */
  unreachable: 2,
  /** EX_USAGE: the command line is wrong. */
  usage: 64,
  /** EX_DATAERR: a file that was given cannot be used. */
  data: 65,
  /** EX_SOFTWARE: a fault of our own. */
  fault: 70,
  /** EX_CONFIG: the configuration is wrong. */
  config: 78,
  interrupted: 130,
  terminated: 143,
} as const;

/** Ends a command with an exit code and a sentence on standard error. */
export class CliExit extends Error {
  readonly exit: number;
  constructor(exit: number, message: string) {
    super(message);
    this.name = 'Ending';
    this.exit = exit;
  }
}

/** Lines and columns stay; nothing else in them controls the terminal. */
const forTerminal = (text: string): string => text.replace(/[^\n\t]+/g, plainText);

export type Session = ReturnType<typeof createSession>;

export function createSession() {
  const interrupt = new AbortController();
  let listening = false;
  const ends = (name: NodeJS.Signals, code: number) =>
    process.on(name, () => {
      if (interrupt.signal.aborted) process.exit(code);
      interrupt.abort(new CliExit(code, 'Interrupted.'));
    });
  // The reader of the pipe has closed it, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? 0 : EXIT.fault),
  );
  process.stderr.on('error', () => undefined);
  const terminal = process.stderr.isTTY === true;
  const outIsTerminal = process.stdout.isTTY === true;
  let hanging = false;
  const clear = () => {
    if (hanging) process.stderr.write('\r\u001b[2K');
    hanging = false;
  };
  return {
    env: process.env,
    terminal,
    // A command that never asks, such as a server, ends in its own way.
    /** Aborted by the first Ctrl-C; the second ends the process at once. */
    get signal() {
      if (!listening) {
        ends('SIGINT', EXIT.interrupted);
        ends('SIGTERM', EXIT.terminated);
      }
      listening = true;
      return interrupt.signal;
    },
    /** Why it was aborted; undefined when it was not. */
    interruption: () => (interrupt.signal.aborted ? interrupt.signal.reason : undefined),
    /** Data, as it is unless it goes to a terminal. Resolves when it may go on: a slow reader is waited for. */
    out(text: string): Promise<void> {
      clear();
      const shown = outIsTerminal ? forTerminal(text) : text;
      return new Promise((resolve) => process.stdout.write(shown, () => resolve()));
    },
    /** Whatever is no data. */
    say(line: string) {
      clear();
      process.stderr.write(`${forTerminal(line)}\n`);
    },
    /** Replaces the last line on a terminal; prints nothing elsewhere. */
    live(line: string) {
      if (!terminal) return;
      clear();
      process.stderr.write(plainText(line));
      hanging = true;
    },
  };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Reads a file. @param option - that names it */
function readText(file: string, option?: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliExit(EXIT.usage, `${option === undefined ? '' : `${option}: `}${messageOf(error)}`);
  }
}

/** Reads the configuration. @param more - defaults that a command has @throws ConfigError */
export async function configOf(
  { env }: Session,
  more: Readonly<Record<string, string>> = {},
): Promise<Config> {
  const { readConfig } = await import('../config.ts');
  return readConfig({ ...more, ...env });
}

/**
 * The token: of the file, else of the environment; undefined when there is none.
 *
 * @throws CliExit for what no header can have, without quoting it
 */
export function tokenOf({ env }: Session, file: string | undefined): string | undefined {
  const place = file === undefined ? 'FOLDATLAS_TOKEN' : '--token-file';
  const token = (file === undefined ? (env.FOLDATLAS_TOKEN ?? '') : readText(file, place)).trim();
  if (token === '' && file === undefined) return undefined;
  if (token === '') throw new CliExit(EXIT.usage, '--token-file: the file is empty.');
  if (/^[!-~]+$/.test(token)) return token;
  throw new CliExit(EXIT.usage, `${place}: a token is one word of ASCII letters, digits and signs.`);
}
