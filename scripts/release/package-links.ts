// The links of a package's pages. What they name beside the package, such as compose.yaml, is in
// the repository only.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { z } from 'zod';

const packed = z.array(z.object({ name: z.string(), files: z.array(z.object({ path: z.string() })) }));

/** The files of each package of a checkout, by their paths in it. */
function packageFiles(root: string): { readonly folder: string; readonly files: readonly string[] }[] {
  const words = [
    'pack',
    '--dry-run',
    '--json',
    '--ignore-scripts',
    '--workspaces',
    '--include-workspace-root',
  ];
  const text = execFileSync('npm', words, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return packed.parse(JSON.parse(text)).map(({ name, files }) => ({
    folder: name === 'foldatlas-sandbox' ? 'sandbox' : '',
    files: files.map(({ path }) => path),
  }));
}

const LINK = /(?<!!)\[([^\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)/g;

/**
 * Makes links that lead out of a package addresses of the repository, or plain text where the
 * repository is not known.
 *
 * @param source - where the files of this version are read, such as https://…/blob/v1.0.0
 */
export function completeLinks(root: string, source: string | undefined): void {
  for (const { folder, files } of packageFiles(root)) {
    const has = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`));
    for (const file of files.filter((path) => path.endsWith('.md'))) {
      const path = join(root, folder, file);
      const text = readFileSync(path, 'utf8');
      const complete = text.replace(LINK, (link, words: string, target: string, anchor = '') => {
        const inPackage = posix.join(dirname(file), target).replace(/\/$/, '');
        if (has(inPackage)) return link;
        return source === undefined
          ? words
          : `[${words}](${source}/${posix.join(folder, inPackage)}${anchor})`;
      });
      if (complete !== text) writeFileSync(path, complete);
    }
  }
}
