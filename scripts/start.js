// Runs a program of the checkout: node scripts/start.js dist/server.js [ARGUMENTS]. Builds first
// where the source, or the list of packages, is newer than the last build. The npm scripts use no
// shell syntax, so that they work on Windows.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
/** Each build sets the time of this file. */
const BUILT = join(ROOT, 'dist/server.js');

/** When a folder or anything in it was changed last. */
const changedAt = (folder) =>
  Math.max(
    ...['.', ...readdirSync(folder, { recursive: true })].map((name) => statSync(join(folder, name)).mtimeMs),
  );

const isBuilt = () => {
  const builtAt = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return (
    statSync(join(ROOT, 'package-lock.json')).mtimeMs <= builtAt &&
    ['src', 'sandbox/src'].every((folder) => changedAt(join(ROOT, folder)) <= builtAt)
  );
};
if (!isBuilt()) execFileSync(process.execPath, [join(ROOT, 'scripts/build.js')], { stdio: 'inherit' });

const [node, , program, ...args] = process.argv;
const path = join(ROOT, program);
// The program sees its arguments where it expects them.
process.argv = [node, path, ...args];
// npm starts this process below a shell. A signal to npm ends that shell, which does not pass
// it on.
const shell = process.ppid;
const looking =
  process.env.npm_lifecycle_event &&
  setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(looking);
    process.kill(process.pid, 'SIGTERM');
  }, 100).unref();

await import(pathToFileURL(path).href);
