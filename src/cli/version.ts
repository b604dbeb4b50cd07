// The version of the package. It knows where package.json is and nothing else.
import { readFileSync } from 'node:fs';

/** The package's version, such as "0.1.0". */
export function version(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof content === 'object' && content !== null && 'version' in content
    ? String(content.version)
    : 'unknown';
}
