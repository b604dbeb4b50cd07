// The examples: the operations of examples/*.graphql in order of file names, shown in GraphiQL and
// tested; the pages examples/browser/*.html, which watch batches live; and the
// client library that one of them imports.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { readShippedFiles } from '../../package.ts';

export interface Example {
  /** File name without its ending, such as `01-accession-to-cluster`. */
  readonly name: string;
  /** The same in words, such as `Accession to cluster`. */
  readonly title: string;
  /** The comment on top. */
  readonly about: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly query: string;
  /**
   * Placeholders for the variables that the reader must fill in, as JSON; null without any. All
   * other values stand in the document only: a second copy would win over an edit of the document.
   */
  readonly variables: string | null;
}

/** Placeholder of an id that another example answers. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  batchId: 'a batchId that 11-submit-fold answered',
  taskId: 'a taskId that 12-watch-batch answered',
  lookupId: 'a lookupId that 21-start-bulk-lookup answered',
};

function exampleVariables({ variableDefinitions = [] }: OperationDefinitionNode): string | null {
  const required = variableDefinitions.filter(
    ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined,
  );
  if (required.length === 0) return null;
  const values = required.map(({ variable: { name } }) => [
    name.value,
    PLACEHOLDERS[name.value] ?? `your ${name.value}`,
  ]);
  return JSON.stringify(Object.fromEntries(values), null, 2);
}

function readExample(name: string, query: string): Example[] {
  const operation = parse(query).definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION) return [];
  const words = name.replace(/^\d+-/, '').replaceAll('-', ' ');
  const comment = /^(?:#.*\n)+/.exec(query)?.[0] ?? '';
  return [
    {
      name,
      title: words.charAt(0).toUpperCase() + words.slice(1),
      about: comment.replace(/^# ?/gm, '').replace(/\s+/g, ' ').trim(),
      kind: operation.operation,
      query,
      variables: exampleVariables(operation),
    },
  ];
}

let examples: readonly Example[] | undefined;

/** Reads the examples, once for a process; none where the folder was not shipped. */
export const readExamples = (): readonly Example[] =>
  (examples ??= readShippedFiles('examples/', /\.graphql$/).flatMap(([file, content]) =>
    readExample(file.replace(/\.graphql$/, ''), content.toString()),
  ));

/** The names that the examples' operations have. */
export const operationNames = (examples: readonly Example[]): ReadonlySet<string> =>
  new Set(
    examples.flatMap(({ query }) =>
      [...query.matchAll(/^[ \t]*(?:query|mutation|subscription)\s+(\w+)/gm)].map(([, name = '']) => name),
    ),
  );

export interface BrowserExample {
  /** File name, such as `websocket.html`. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

let browserExamples: readonly BrowserExample[] | undefined;

/** Reads the pages, once for a process; none where the folder was not shipped. */
export const readBrowserExamples = (): readonly BrowserExample[] =>
  (browserExamples ??= readShippedFiles('examples/browser/', /\.html$/).map(([name, content]) => {
    const text = content.toString();
    return { name, title: /<title>([^<]+)<\/title>/.exec(text)?.[1] ?? name, text };
  }));

/** The browser build of graphql-ws: the client and the file that it imports, by their names. */
export function readGraphqlWs(): [name: string, content: Buffer][] {
  const client = createRequire(import.meta.url).resolve('graphql-ws/client');
  return readShippedFiles(new URL('./', pathToFileURL(client)).href, /^(client|common-[\w-]+)\.js$/);
}
