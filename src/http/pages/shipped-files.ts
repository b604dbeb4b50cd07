// The files that are shipped beside the code, in docs/, examples/ and public/.
import { readdirSync, readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../../package.ts';

/**
 * Reads the files of a folder whose names match, in the order of the names; none where it was not
 * shipped.
 *
 * @param folder - with its final slash
 */
export function readFiles(folder: string, names: RegExp): [name: string, content: Buffer][] {
  const place = new URL(folder, PACKAGE_ROOT);
  try {
    const wanted = readdirSync(place).filter((name) => names.test(name));
    return wanted.sort().map((name) => [name, readFileSync(new URL(name, place))]);
  } catch {
    return [];
  }
}
