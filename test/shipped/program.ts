// A program that is shipped, started as its users start it: in a folder and an environment of its
// own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithFile } from '../child-processes.ts';

export interface Program {
  /** The first address that it has printed last, without a path. */
  readonly url: string;
  /** The output so far. */
  output(): string;
  /**
   * Tells it, and what it has started, to stop. @returns the exit code; null when the signal ended
   * it
   */
  stop(): Promise<number | null>;
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** User and group, where the tests run as root. */
  readonly user?: number | undefined;
}

/** The addresses of the gateway and the sandbox in the lines with which they start. */
const STARTED = /(http:\/\/\S+)\/graphql\n|\*\*\* SANDBOX at (http:\S+) /;

/**
 * Starts a server and resolves when it listens. @throws Error with what it wrote when it ends
 * before
 */
export async function startProgram(
  [command = '', ...args]: readonly string[],
  { cwd, env, user }: ProgramOptions,
): Promise<Program> {
  const child = spawn(command, args, {
    ...{ cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  endWithFile(child, true);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const [, gateway, sandbox] = STARTED.exec(output) ?? [];
      if (gateway !== undefined || sandbox !== undefined) resolve(gateway ?? sandbox ?? '');
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('close', (code) =>
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`)),
    );
  });
  return {
    url,
    output: () => output,
    async stop() {
      const ended = once(child, 'close');
      // With what npx has started, as a terminal does.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/** Asks one operation of a gateway. @returns its whole answer */
export async function ask(
  url: string,
  query: string,
  { variables = {}, token }: { readonly variables?: object; readonly token?: string } = {},
): Promise<{ readonly data?: unknown; readonly errors?: unknown }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
  return await response.json();
}
