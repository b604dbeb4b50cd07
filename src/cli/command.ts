// A command of the bin: its definition, strict parsing of its arguments, and its help text.
import { parseArgs } from 'node:util';
import { CliExit, EXIT, errorMessage, type Session } from './session.ts';

interface Arg {
  readonly type: 'boolean' | 'string';
  readonly description: string;
  readonly valueHint?: string;
}
type Args = Readonly<Record<string, Arg>>;

type Parsed<T extends Args> = {
  readonly [K in keyof T]: (T[K]['type'] extends 'boolean' ? boolean : string) | undefined;
};

interface Definition<T extends Args> {
  readonly name: string;
  readonly summary: string;
  readonly args: T;
  /** Command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  readonly exits: readonly (readonly [code: number, means: string])[];
  /** @returns the exit code */
  run(args: Parsed<T>, session: Session): Promise<number>;
}

export const flag = (description: string) => ({ type: 'boolean', description }) as const;
/** @param valueHint - what stands for the value in the help */
export const option = (valueHint: string, description: string) =>
  ({ type: 'string', valueHint, description }) as const;

/** The option of every command with a token; `readToken` reads it. */
export const TOKEN_FILE = option(
  'FILE',
  'File with the bearer token; else FOLDATLAS_TOKEN in the environment',
);

export interface Command {
  help(): string;
  run(raw: readonly string[], session: Session): Promise<number>;
}

/** @throws CliExit for unknown options, for options without their value, and for words */
function parse(command: string, args: Args, raw: readonly string[]) {
  const options = Object.fromEntries(Object.entries(args).map(([name, { type }]) => [name, { type }]));
  try {
    const { values } = parseArgs({ args: [...raw], options });
    const empty = Object.keys(values).find((name) => values[name] === '');
    if (empty !== undefined) throw new Error(`--${empty} needs a value`);
    return values;
  } catch (error) {
    const [what = ''] = errorMessage(error).split('\n');
    throw new CliExit(EXIT.usage, `${what.replace(/\.?$/, '.')} See foldatlas ${command} --help.`);
  }
}

const columns = (rows: readonly (readonly [string | number, string])[]): string => {
  const width = Math.max(...rows.map(([first]) => String(first).length));
  return rows.map(([first, second]) => `  ${String(first).padEnd(width)}  ${second}`).join('\n');
};

function helpText({ name, summary, args, examples, exits }: Omit<Definition<Args>, 'run'>): string {
  const options = Object.entries(args).map(
    ([arg, { valueHint = '', description }]) => [`--${arg} ${valueHint}`.trimEnd(), description] as const,
  );
  const sections = [
    ['OPTIONS', columns(options)],
    ['EXAMPLES', examples.map(([line, does]) => `  ${line}\n      ${does}`).join('\n')],
    ['EXIT CODES', columns(exits)],
  ];
  const text = sections.map(([title, body]) => (body === '' ? '' : `\n${title}\n\n${body}\n`)).join('');
  return `${summary} (foldatlas ${name})\n\nUSAGE foldatlas ${name}${options.length > 0 ? ' [OPTIONS]' : ''}\n${text}`;
}

export const command = <const T extends Args>(definition: Definition<T>): Command => ({
  help: () => helpText(definition),
  // `parse` follows these definitions, so its result has their type.
  run: async (raw, session) =>
    definition.run(parse(definition.name, definition.args, raw) as Parsed<T>, session),
});
