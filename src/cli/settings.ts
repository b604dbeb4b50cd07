// The configuration and the caller's token for a command; all problems are reported at once. A
// token comes from the environment or a file, never from the command line, which other users of the
// machine can read.
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { CliExit, EXIT, type Session } from './session.ts';

/** Reads the configuration. @param more - defaults that a command has @throws ConfigError */
export async function configOf(
  { env }: Session,
  more: Readonly<Record<string, string>> = {},
): Promise<Config> {
  const { readConfig } = await import('../config.ts');
  return readConfig({ ...more, ...env });
}

/** The option that every command with a token has. */
export const TOKEN_FILE = {
  type: 'string',
  description: 'File with the bearer token; else FOLDATLAS_TOKEN in the environment',
  valueHint: 'FILE',
} as const;

/** The token: of the file, else of the environment; undefined when there is none. */
export function tokenOf({ env }: Session, file: string | undefined): string | undefined {
  if (file === undefined) return env.FOLDATLAS_TOKEN === '' ? undefined : env.FOLDATLAS_TOKEN;
  try {
    const token = readFileSync(file, 'utf8').trim();
    if (token !== '') return token;
  } catch (error) {
    throw new CliExit(EXIT.usage, `--token-file: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CliExit(EXIT.usage, '--token-file: the file is empty.');
}
