// The reading of command lines and files, before anything is started or sent.
import { describe, expect, it } from 'vitest';
import { command, flag, option } from '../../src/cli/command.ts';
import { createSession } from '../../src/cli/session.ts';

describe('a command line', () => {
  const session = createSession();
  const taken: unknown[] = [];
  const look = command({
    name: 'look',
    summary: 'Looks',
    args: {
      url: option('URL', 'Place'),
      tsv: flag('Table'),
    },
    examples: [],
    exits: [],
    run: async (args) => taken.push(args),
  });

  it.each([
    [['--tsv=yes'], "Option '--tsv' does not take an argument."],
    [['--url', '--tsv'], "Option '--url' argument is ambiguous."],
    [['--url='], '--url needs a value.'],
    [['--constructor'], "Unknown option '--constructor'."],
    [['-t'], "Unknown option '-t'."],
    [['a'], "Unexpected argument 'a'. This command does not take positional arguments."],
  ])('%j is told as wrong, and nothing is run', async (words, message) => {
    await expect(look.run(words, session)).rejects.toMatchObject({
      exit: 64,
      message: `${message} See foldatlas look --help.`,
    });
    expect(taken).toEqual([]);
  });

  it('has values that look like options behind =', async () => {
    await look.run(['--url=--odd', '--tsv'], session);
    expect(taken.splice(0)).toEqual([{ url: '--odd', tsv: true }]);
  });
});
