// The guides for people, README.md and docs/*.md, as they are: read when first asked for. It knows no page.
import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);

export interface DocsFile {
  /** File name, such as `README.md`. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  readonly text: string;
}

const read = (folder: URL, name: string): DocsFile => {
  const text = readFileSync(new URL(name, folder), 'utf8');
  return { name, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
};

const namesIn = (folder: URL): string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort();
  } catch {
    return [];
  }
};

/** Reads the guides, the README first; none where they were not shipped. */
export function readDocsFiles(): DocsFile[] {
  const docs = new URL('docs/', ROOT);
  return [
    ...namesIn(ROOT)
      .filter((name) => name === 'README.md')
      .map((name) => read(ROOT, name)),
    // Their index is for who looks at the folder; here the front page is one.
    ...namesIn(docs)
      .filter((name) => name !== 'README.md')
      .map((name) => read(docs, name)),
  ];
}
