// Runs a program of the checkout, built when it has changed: node scripts/start.js dist/server.js
// [ARGUMENTS]. The npm scripts use no shell syntax, so that they work on Windows.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import './build-if-changed.js';

const ROOT = join(import.meta.dirname, '..');
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
