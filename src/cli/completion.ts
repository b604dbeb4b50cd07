// foldatlas completion: scripts that complete commands, options and files in bash, zsh and fish, made of the commands as they are.

import { type Command, command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT } from './session.ts';

type Known = readonly Pick<Command, 'name' | 'summary' | 'options'>[];

const flags = ({ options }: Known[number]): string =>
  ['--help', ...options.map(({ name }) => `--${name}`)].join(' ');

const bash = (
  known: Known,
): string => `# foldatlas completion for bash: source it, or put it into /etc/bash_completion.d
_foldatlas() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${known.map(({ name }) => name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${known.map((one) => `    ${one.name}) local options="${flags(one)}" ;;`).join('\n')}
    *) local options="" ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _foldatlas foldatlas
`;

const quoted = (text: string): string => text.replace(/'/g, "'\\''").replace(/[[\]:]/g, '\\$&');

const zsh = (known: Known): string => `#compdef foldatlas
# foldatlas completion for zsh: put it into a folder of $fpath as _foldatlas
_foldatlas() {
  local -a commands
  commands=(
${known.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
${known
  .map(
    ({ name, options }) =>
      `    ${name}) _arguments '--help[help]' ${options.map((one) => `'--${one.name}${one.valued ? '=' : ''}[${quoted(one.description)}]${one.valued ? ':value:_files' : ''}'`).join(' ')} '*:file:_files' ;;`,
  )
  .join('\n')}
  esac
}
compdef _foldatlas foldatlas
`;

const fish = (known: Known): string =>
  `# foldatlas completion for fish: put it into ~/.config/fish/completions/foldatlas.fish
complete -c foldatlas -n __fish_use_subcommand -f
${known
  .flatMap(({ name, summary, options }) => [
    `complete -c foldatlas -n __fish_use_subcommand -a ${name} -d '${summary.replace(/'/g, "\\'")}'`,
    ...options.map(
      (one) =>
        `complete -c foldatlas -n '__fish_seen_subcommand_from ${name}' -l ${one.name}${one.valued ? ' -r' : ''} -d '${one.description.replace(/'/g, "\\'")}'`,
    ),
  ])
  .join('\n')}
`;

const SHELLS = { bash, zsh, fish } as const;

export default command({
  name: 'completion',
  summary: 'Writes a completion script for bash, zsh or fish',
  args: {
    shell: { type: 'positional', description: 'bash, zsh or fish', required: true },
  },
  examples: [
    ['source <(foldatlas completion bash)', 'In ~/.bashrc'],
    ['foldatlas completion fish > ~/.config/fish/completions/foldatlas.fish', 'For fish'],
  ],
  exits: [
    [EXIT.ok, 'written'],
    [EXIT.usage, 'the command line is wrong'],
  ],
  async run({ shell }, session) {
    const write = Object.entries(SHELLS).find(([name]) => name === shell)?.[1];
    if (write === undefined) {
      session.say('Name a shell: foldatlas completion bash, zsh or fish.');
      return EXIT.usage;
    }
    await session.out(write(await Promise.all(COMMANDS.map(({ load }) => load()))));
    return EXIT.ok;
  },
});
