// The commands of the bin. Each is imported only when it runs, so that help is printed at once.
import type { Command } from './command.ts';

interface Entry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

const entry = (name: string, summary: string, load: () => Promise<{ default: Command }>): Entry => ({
  name,
  summary,
  load: async () => (await load()).default,
});

/** In the order of the help. */
export const COMMANDS: readonly Entry[] = [
  entry('serve', 'Starts the gateway', () => import('./serve.ts')),
  entry('sandbox', 'Starts the stand-in of the service by itself', () => import('./sandbox.ts')),
  entry('query', 'Runs a GraphQL document', () => import('./query.ts')),
  entry('fold', 'Submits folds, follows them, saves their results', () => import('./fold.ts')),
  entry('lookup', 'Looks up proteins by hash, accession or entry name', () => import('./lookup.ts')),
  entry('doctor', 'Does the upstream still keep its contract?', () => import('./doctor.ts')),
  entry(
    'rotate-secret',
    'Changes GATEWAY_SECRET without losing what is kept',
    () => import('./rotate-secret.ts'),
  ),
];

/** The help of the bin. */
export function mainHelp(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `FoldAtlas: one GraphQL endpoint over a protein service's two APIs

USAGE foldatlas COMMAND [OPTIONS]

${lines.join('\n')}

foldatlas COMMAND --help tells options, examples and exit codes of a command.
Settings come from the environment (.env.example lists them); a token from FOLDATLAS_TOKEN or --token-file.
`;
}
