// The example operations of examples/*.graphql, in order of their file names: tabs of GraphiQL, documentation and tests at once.
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../examples/', import.meta.url);

export interface Example {
  /** File name without its ending, such as `01-accession-to-cluster`. */
  readonly name: string;
  readonly query: string;
}

/** Reads the examples; none where the folder was not shipped. */
export function readExamples(): Example[] {
  try {
    return readdirSync(FOLDER)
      .filter((file) => file.endsWith('.graphql'))
      .sort()
      .map((file) => ({
        name: file.replace(/\.graphql$/, ''),
        query: readFileSync(new URL(file, FOLDER), 'utf8'),
      }));
  } catch {
    return [];
  }
}

/** The names that the examples' operations have. */
export const operationNames = (examples: readonly Example[]): ReadonlySet<string> =>
  new Set(
    examples.flatMap(({ query }) =>
      [...query.matchAll(/^\s*(?:query|mutation|subscription)\s+(\w+)/gm)].map(([, name = '']) => name),
    ),
  );
