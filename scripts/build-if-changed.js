// Builds where the source, or what the build is made of, is newer than the last build.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Each build sets the time of this file. */
const BUILT = join(ROOT, 'dist/server.js');
const MADE_OF = [
  'package.json',
  'package-lock.json',
  'scripts',
  'src',
  'sandbox/package.json',
  'sandbox/src',
];

/** When a file, or a folder or anything in it, was changed last. */
function changedAt(path) {
  const stats = statSync(path);
  const inside = stats.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stats.mtimeMs, ...inside);
}

const builtAt = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (MADE_OF.some((name) => changedAt(join(ROOT, name)) > builtAt))
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.js')], { stdio: 'inherit' });
