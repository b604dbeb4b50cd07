// The version of the package, out of its package.json.
import { readFileSync } from 'node:fs';

function readVersion(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof content === 'object' && content !== null && 'version' in content
    ? String(content.version)
    : 'unknown';
}

/** The package's version, such as "0.1.0". */
export const VERSION = readVersion();

/** Product and version. */
export const USER_AGENT = `FoldAtlas/${VERSION}`;
