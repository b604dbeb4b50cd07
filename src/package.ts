// The installed package: its folder, its version, and the files that are shipped beside the code,
// in docs/, examples/ and public/.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

function findRoot(): URL {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) folder = new URL('../', folder);
  return folder;
}

/**
 * The folder of package.json, docs/, examples/ and public/: the same from source and from the
 * build.
 */
export const PACKAGE_ROOT = findRoot();

function readVersion(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'));
  return typeof content === 'object' && content !== null && 'version' in content
    ? String(content.version)
    : 'unknown';
}

/** The package's version, such as "1.0.0". */
export const VERSION = readVersion();

/** Product and version. */
export const USER_AGENT = `FoldAtlas/${VERSION}`;

/**
 * Reads the files of a folder whose names match, in the order of the names; none where it was not
 * shipped.
 *
 * @param folder - with its final slash
 */
export function readShippedFiles(folder: string, names: RegExp): [name: string, content: Buffer][] {
  const place = new URL(folder, PACKAGE_ROOT);
  try {
    const wanted = readdirSync(place).filter((name) => names.test(name));
    return wanted.sort().map((name) => [name, readFileSync(new URL(name, place))]);
  } catch {
    return [];
  }
}
