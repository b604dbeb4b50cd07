#!/usr/bin/env node
// The bin `foldatlas`: finds the command, runs it and maps its outcome to an exit code.
import { VERSION } from '../version.ts';
import { COMMANDS, mainHelp } from './commands.ts';
import { CliExit, createSession, EXIT, type Session } from './session.ts';

const wantsHelp = (words: readonly string[]): boolean => {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h');
};

async function run([name, ...rest]: readonly string[], session: Session): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    await session.out(mainHelp());
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  if (name === '--version' || name === '-v') {
    await session.out(`${VERSION}\n`);
    return EXIT.ok;
  }
  const found = COMMANDS.find((one) => one.name === name);
  if (found === undefined)
    throw new CliExit(EXIT.usage, `There is no command ${name}. See foldatlas --help.`);
  const command = await found.load();
  if (!wantsHelp(rest)) return command.run(rest, session);
  await session.out(await command.help());
  return EXIT.ok;
}

const session = createSession();
try {
  process.exitCode = await run(process.argv.slice(2), session);
} catch (error) {
  const cause = error instanceof CliExit ? error : (session.interruption() ?? error);
  if (cause instanceof CliExit) {
    session.say(cause.message);
    process.exitCode = cause.exit;
  } else if (error instanceof Error && error.name === 'ConfigError') {
    session.say(error.message);
    process.exitCode = EXIT.config;
  } else {
    session.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = EXIT.fault;
  }
}
// What a command left open must not keep the process: everything it promised is written by now.
if (process.exitCode !== undefined) setImmediate(() => process.exit());
