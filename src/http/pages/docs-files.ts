// The guides README.md, docs/*.md, CHANGELOG.md and SECURITY.md, and the pictures that they show.
import { readShippedFiles } from '../../package.ts';

export interface DocsFile {
  /** File name, such as `README.md`. */
  readonly name: string;
  /** Where it is in the repository: empty, or `docs/`. */
  readonly folder: string;
  /** Its first heading. */
  readonly title: string;
  readonly text: string;
}

const guidesIn = (folder: string, names: RegExp): DocsFile[] =>
  readShippedFiles(folder === '' ? './' : folder, names).map(([name, content]) => {
    const text = content.toString();
    return { name, folder, title: /^# (.+)$/m.exec(text)?.[1] ?? name, text };
  });

let guides: readonly DocsFile[] | undefined;

/** Reads the guides, once for a process, the README first; none where they were not shipped. */
export const readDocsFiles = (): readonly DocsFile[] =>
  (guides ??= [
    ...guidesIn('', /^README\.md$/),
    // The index is for readers of the folder; the front page links the guides itself.
    ...guidesIn('docs/', /^(?!README\.md$).*\.md$/),
    ...guidesIn('', /^(CHANGELOG|SECURITY)\.md$/),
  ]);

/** Reads the pictures of the guides by their path within docs/, such as `images/front-light.webp`. */
export const readDocsPictures = (): ReadonlyMap<string, Buffer> =>
  new Map([
    ...readShippedFiles('docs/', /\.svg$/),
    ...readShippedFiles('docs/images/', /\.webp$/).map(
      ([name, content]) => [`images/${name}`, content] as const,
    ),
  ]);
