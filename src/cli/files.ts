// Files and standard input as text, with the mistakes of a command line told as such.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { CliExit, EXIT } from './session.ts';

/** Reads a file, or standard input for `-`. */
export async function readInput(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliExit(EXIT.usage, error instanceof Error ? error.message : String(error));
  }
}
