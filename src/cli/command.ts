// A command of the bin: its definition, strict parsing of its arguments, and its help text.
import { parseArgs } from 'node:util';
import { CliExit, EXIT, type Session } from './session.ts';

interface Arg {
  readonly type: 'boolean' | 'string' | 'positional';
  readonly description: string;
  readonly valueHint?: string;
  readonly required?: boolean;
}
type Args = Readonly<Record<string, Arg>>;

type Parsed<T extends Args> = {
  readonly [K in keyof T]: T[K]['type'] extends 'boolean'
    ? boolean | undefined
    : T[K] extends { readonly required: true }
      ? string
      : string | undefined;
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
export const word = <R extends boolean>(required: R, description: string) =>
  ({ type: 'positional', required, description }) as const;

/** The option of every command with a token; `readToken` reads it. */
export const TOKEN_FILE = option(
  'FILE',
  'File with the bearer token; else FOLDATLAS_TOKEN in the environment',
);

export interface Command {
  help(): string;
  run(raw: readonly string[], session: Session): Promise<number>;
}

/** Refuses unknown options, options without their value, and missing or extra words. */
function parse(command: string, args: Args, raw: readonly string[]): Record<string, string | boolean> {
  const wrong = (what: string) => new CliExit(EXIT.usage, `${what} See foldatlas ${command} --help.`);
  const places = Object.keys(args).filter((name) => args[name]?.type === 'positional');
  const options = Object.fromEntries(
    Object.entries(args).flatMap(([name, { type }]) => (type === 'positional' ? [] : [[name, { type }]])),
  );
  const parsed: Record<string, string | boolean> = {};
  for (const token of parseArgs({ args: [...raw], options, strict: false, tokens: true }).tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      const place = places.shift();
      if (place === undefined) throw wrong(`There is one word too many: ${token.value}.`);
      parsed[place] = token.value;
      continue;
    }
    const { name, rawName, value, inlineValue } = token;
    if (!Object.hasOwn(options, name)) throw wrong(`There is no option ${rawName}.`);
    const takesValue = args[name]?.type === 'string';
    if (!takesValue && value !== undefined) throw wrong(`${rawName} takes no value.`);
    if (takesValue && (!value || (!inlineValue && value.startsWith('--'))))
      throw wrong(`${rawName} needs a value.`);
    parsed[name] = value ?? true;
  }
  const missing = places.find((name) => args[name]?.required === true);
  if (missing !== undefined) throw wrong(`${missing.toUpperCase()} is missing.`);
  return parsed;
}

const columns = (rows: readonly (readonly [string | number, string])[]): string => {
  const width = Math.max(...rows.map(([first]) => String(first).length));
  return rows.map(([first, second]) => `  ${String(first).padEnd(width)}  ${second}`).join('\n');
};

function helpText({ name, summary, args, examples, exits }: Omit<Definition<Args>, 'run'>): string {
  const usage = [`USAGE foldatlas ${name}`];
  const words: [string, string][] = [];
  const options: [string, string][] = [];
  for (const [arg, { type, description, valueHint = '', required }] of Object.entries(args)) {
    if (type !== 'positional') options.push([`--${arg} ${valueHint}`.trimEnd(), description]);
    else words.push([arg.toUpperCase(), description]);
    if (type === 'positional') usage.push(required === true ? arg.toUpperCase() : `[${arg.toUpperCase()}]`);
  }
  if (options.length > 0) usage.splice(1, 0, '[OPTIONS]');
  const sections = [
    ['ARGUMENTS', columns(words)],
    ['OPTIONS', columns(options)],
    ['EXAMPLES', examples.map(([line, does]) => `  ${line}\n      ${does}`).join('\n')],
    ['EXIT CODES', columns(exits)],
  ];
  const text = sections.map(([title, body]) => (body === '' ? '' : `\n${title}\n\n${body}\n`)).join('');
  return `${summary} (foldatlas ${name})\n\n${usage.join(' ')}\n${text}`;
}

export const command = <const T extends Args>(definition: Definition<T>): Command => ({
  help: () => helpText(definition),
  // `parse` follows these definitions, so its result has their type.
  run: async (raw, session) =>
    definition.run(parse(definition.name, definition.args, raw) as Parsed<T>, session),
});
