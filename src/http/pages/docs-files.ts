// The guides README.md, docs/*.md and CHANGELOG.md, and the pictures that they show.
import { readdirSync, readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../../package.ts';

export interface DocsFile {
  /** File name, such as `README.md`. */
  readonly name: string;
  /** Where it is in the repository: empty, or `docs/`. */
  readonly folder: string;
  /** Its first heading. */
  readonly title: string;
  readonly text: string;
}

const read = (folder: string, name: string): DocsFile => {
  const text = readFileSync(new URL(folder + name, PACKAGE_ROOT), 'utf8');
  return { name, folder, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
};

const namesIn = (folder: string, ending: string): string[] => {
  try {
    return readdirSync(new URL(folder, PACKAGE_ROOT))
      .filter((name) => name.endsWith(ending))
      .sort();
  } catch {
    return [];
  }
};

/** Reads the guides, the README first; none where they were not shipped. */
export function readDocsFiles(): DocsFile[] {
  const atRoot = (wanted: string) =>
    namesIn('./', '.md')
      .filter((name) => name === wanted)
      .map((name) => read('', name));
  return [
    ...atRoot('README.md'),
    // The index is for readers of the folder; the front page links the guides itself.
    ...namesIn('docs/', '.md')
      .filter((name) => name !== 'README.md')
      .map((name) => read('docs/', name)),
    ...atRoot('CHANGELOG.md'),
  ];
}

/** Reads the pictures of the guides by their path within docs/, such as `images/front-light.webp`. */
export function readDocsPictures(): ReadonlyMap<string, Buffer> {
  const names = [
    ...namesIn('docs/', '.svg'),
    ...namesIn('docs/images/', '.webp').map((name) => `images/${name}`),
  ];
  return new Map(names.map((name) => [name, readFileSync(new URL(`docs/${name}`, PACKAGE_ROOT))]));
}
