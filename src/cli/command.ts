// A command of the bin: its definition, strict parsing of its arguments, and its help text.
import { type ArgsDef, defineCommand, type ParsedArgs, parseArgs, renderUsage } from 'citty';
import { CliExit, EXIT, type Session } from './session.ts';

/** A command as it is written down. */
interface Definition<T extends ArgsDef> {
  readonly name: string;
  readonly summary: string;
  readonly args: T;
  /** Command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** Exit codes and what they mean. */
  readonly exits: readonly (readonly [code: number, means: string])[];
  /** @returns the exit code */
  run(args: ParsedArgs<T>, session: Session): Promise<number>;
}

/** A command as the bin runs it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  help(): Promise<string>;
  run(raw: readonly string[], session: Session): Promise<number>;
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Refuses what citty ignores: unknown options, options without their value, extra arguments. */
function strict(
  args: ArgsDef,
  parsed: Readonly<Record<string, unknown>> & { readonly _: string[] },
  name: string,
): void {
  const known = new Set(
    Object.keys(args).flatMap((arg) => [
      arg,
      kebab(arg),
      ...[args[arg]].flatMap((one) => (one !== undefined && 'alias' in one ? [one.alias ?? []].flat() : [])),
    ]),
  );
  const camel = (key: string) => key.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  for (const [key, value] of Object.entries(parsed)) {
    if (key === '_') continue;
    if (!known.has(key) && !known.has(camel(key)))
      throw new CliExit(EXIT.usage, `There is no option --${key}. See foldatlas ${name} --help.`);
    const arg = args[camel(key)] ?? args[key];
    if ((arg?.type === 'string' || arg?.type === 'enum') && value === '')
      throw new CliExit(EXIT.usage, `--${kebab(key)} needs a value. See foldatlas ${name} --help.`);
  }
  const places = Object.values(args).filter(({ type }) => type === 'positional').length;
  if (parsed._.length > places)
    throw new CliExit(
      EXIT.usage,
      `There is one word too many: ${parsed._[places]}. See foldatlas ${name} --help.`,
    );
}

const columns = (rows: readonly (readonly [string | number, string])[]): string => {
  const width = Math.max(...rows.map(([first]) => String(first).length));
  return rows.map(([first, second]) => `  ${String(first).padEnd(width)}  ${second}`).join('\n');
};

const examplesText = (rows: Definition<ArgsDef>['examples']): string =>
  rows.map(([line, does]) => `  ${line}\n      ${does}`).join('\n');

/** Makes a command of its definition. */
export function command<const T extends ArgsDef>(definition: Definition<T>): Command {
  const { name, summary, args, examples, exits } = definition;
  return {
    name,
    summary,
    async help() {
      const usage = await renderUsage(
        defineCommand({ meta: { name: `foldatlas ${name}`, description: summary }, args }),
      );
      const text = usage.replace(/(?<! ) +$/gm, '');
      return `${text}\nEXAMPLES\n\n${examplesText(examples)}\n\nEXIT CODES\n\n${columns(exits)}\n`;
    },
    async run(raw, session) {
      let parsed: ParsedArgs<T>;
      try {
        parsed = parseArgs<T>([...raw], args);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new CliExit(EXIT.usage, `${message}. See foldatlas ${name} --help.`);
      }
      strict(args, parsed, name);
      return definition.run(parsed, session);
    },
  };
}
