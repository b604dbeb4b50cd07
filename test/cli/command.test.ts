// What a command line and a file mean, before anything is started or sent.
import { describe, expect, it } from 'vitest';
import { command, flag, option, word } from '../../src/cli/command.ts';
import { createSession } from '../../src/cli/session.ts';

describe('a command line', () => {
  const session = createSession();
  const taken: unknown[] = [];
  const look = command({
    name: 'look',
    summary: 'Looks',
    args: {
      file: word(true, 'File'),
      more: word(false, 'More'),
      url: option('URL', 'Place'),
      tsv: flag('Table'),
    },
    examples: [],
    exits: [],
    run: async (args) => taken.push(args),
  });

  it.each([
    [['--tsv=yes', 'a'], '--tsv takes no value.'],
    [['a', '--url', '--tsv'], '--url needs a value.'],
    [['a', '--url='], '--url needs a value.'],
    [['--tsv'], 'FILE is missing.'],
    [['a', '--constructor'], 'There is no option --constructor.'],
    [['a', '-t'], 'There is no option -t.'],
    [['a', 'b', 'c'], 'There is one word too many: c.'],
  ])('%j is told as wrong, and nothing is run', async (words, message) => {
    await expect(look.run(words, session)).rejects.toMatchObject({
      exit: 64,
      message: `${message} See foldatlas look --help.`,
    });
    expect(taken).toEqual([]);
  });

  it('has values that look like options behind = and behind --', async () => {
    await look.run(['--url=--odd', '--', '--tsv'], session);
    expect(taken.splice(0)).toEqual([{ url: '--odd', file: '--tsv' }]);
  });
});
