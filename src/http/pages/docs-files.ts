// The guides README.md and docs/*.md, read on first use.
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
    // The index is for readers of the folder; the front page links the guides itself.
    ...namesIn(docs)
      .filter((name) => name !== 'README.md')
      .map((name) => read(docs, name)),
  ];
}
