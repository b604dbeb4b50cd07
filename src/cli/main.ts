#!/usr/bin/env node
// The bin `foldatlas`: finds the command, runs it and maps its outcome to an exit code. Each
// command is imported only when it runs, so that help is printed at once.
import { VERSION } from '../package.ts';
import type { Command } from './command.ts';
import { CliExit, createSession, EXIT, type Session } from './session.ts';

/** Each by its name, in the order of the help. */
const COMMANDS: Readonly<Record<string, readonly [summary: string, load: () => Promise<Command>]>> = {
  serve: ['Starts the gateway; also without a command', async () => (await import('./start.ts')).serve],
  sandbox: ['Starts the stand-in of the service by itself', async () => (await import('./start.ts')).sandbox],
  doctor: ['Is the service as the gateway expects it?', async () => (await import('./doctor.ts')).default],
  mcp: ['Serves the tools of a gateway to an agent', async () => (await import('./mcp.ts')).default],
  'accept-ledger': [
    'Accepts a ledger that has lost what it knew',
    async () => (await import('./accept-ledger.ts')).default,
  ],
};

function mainHelp(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, [summary]]) => `  ${name.padEnd(width)}  ${summary}`);
  return `FoldAtlas: one GraphQL endpoint over a protein service's two APIs

USAGE foldatlas [COMMAND] [OPTIONS]

${lines.join('\n')}

foldatlas COMMAND --help tells options, examples and exit codes of a command.
Settings come from the environment (docs/operators.md lists them); a token from FOLDATLAS_TOKEN or --token-file.
`;
}

const wantsHelp = (words: readonly string[]): boolean => {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h');
};

async function run([name = 'serve', ...rest]: readonly string[], session: Session): Promise<number> {
  if (name === 'help' || name === '--help' || name === '-h') {
    await session.out(mainHelp());
    return EXIT.ok;
  }
  if (name === '--version' || name === '-v') {
    await session.out(`${VERSION}\n`);
    return EXIT.ok;
  }
  const [, load] = (Object.hasOwn(COMMANDS, name) && COMMANDS[name]) || [];
  if (load === undefined) throw new CliExit(EXIT.usage, `There is no command ${name}. See foldatlas --help.`);
  const command = await load();
  if (!wantsHelp(rest)) return command.run(rest, session);
  await session.out(command.help());
  return EXIT.ok;
}

const session = createSession();
try {
  process.exitCode = await run(process.argv.slice(2), session);
} catch (error) {
  if (error instanceof CliExit) {
    session.say(error.message);
    process.exitCode = error.exit;
  } else if (error instanceof Error && error.name === 'ConfigError') {
    session.say(error.message);
    process.exitCode = EXIT.config;
  } else {
    session.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = EXIT.fault;
  }
}
// All output is written by now: sockets that a command left open must not keep the process.
if (process.exitCode !== undefined) setImmediate(() => process.exit());
