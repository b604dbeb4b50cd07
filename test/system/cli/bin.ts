// Starts the bin as its own process, as a shell does, and tells what came of it.
import { type ChildProcess, spawn } from 'node:child_process';
import { endWithFile } from '../../child-processes.ts';
import { ROOT } from '../../root.ts';

/** The program as `build` made it. */
export const BIN = `${ROOT}dist/cli/main.js`;

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
}

/** Starts the bin as it is shipped; `build` comes before. */
export function start(words: readonly string[], { env = {}, cwd, input }: RunOptions = {}): Running {
  const child = endWithFile(
    spawn(process.execPath, [BIN, ...words], {
      cwd: cwd ?? ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...env },
    }),
  );
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  return {
    child,
    ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err }))),
  };
}

/** Runs the bin to its end. */
export const run = (words: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  start(words, options).ended;
