// The pages examples/browser/*.html, which watch batches and bulk look-ups live, and the client
// library that one of them imports.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const FOLDER = new URL('../../../examples/browser/', import.meta.url);

export interface BrowserExample {
  /** File name, such as `websocket.html`. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

/** Reads the pages; none where the folder was not shipped. */
export function readBrowserExamples(): BrowserExample[] {
  try {
    return readdirSync(FOLDER)
      .filter((name) => name.endsWith('.html'))
      .sort()
      .map((name) => {
        const text = readFileSync(new URL(name, FOLDER), 'utf8');
        return { name, title: /<title>([^<]+)<\/title>/.exec(text)?.[1] ?? name, text };
      });
  } catch {
    return [];
  }
}

/** The browser build of graphql-ws: the client and the file that it imports, by their names. */
export function readGraphqlWs(): ReadonlyMap<string, Buffer> {
  const folder = dirname(createRequire(import.meta.url).resolve('graphql-ws/client'));
  const names = readdirSync(folder).filter((name) => /^(client|common-[\w-]+)\.js$/.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}
