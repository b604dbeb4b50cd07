// Compiles the gateway and the sandbox for tests of what is shipped: once at a time, and only what has changed.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK = `${ROOT}node_modules/.building`;
/** Longer than any build takes: a lock older than this was left by a process that was killed. */
const STALE_MS = 180_000;

async function lock(): Promise<void> {
  for (;;) {
    try {
      mkdirSync(LOCK);
      return;
    } catch {
      const since = statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - since > STALE_MS) rmdirSync(LOCK);
      else await sleep(200);
    }
  }
}

/** What the compiler knows of its last run, and what says that it was this one and that all of it was good. */
const BUILT = `${ROOT}dist/.tsbuildinfo`;
const GOOD = `${ROOT}dist/.tsbuildinfo.good`;
const SOURCES = [
  'src',
  'sandbox/src',
  'sandbox/tsconfig.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

/** When a file was changed last, or anything in a folder, also by being taken away; never where there is none. */
function changedAt(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return Number.NEGATIVE_INFINITY;
  const within = stat.isDirectory() ? readdirSync(path).map((name) => changedAt(join(path, name))) : [];
  return Math.max(stat.mtimeMs, ...within);
}

/** Even when there is nothing to do the compiler takes five seconds to find that out. */
const isBuilt = (): boolean =>
  changedAt(GOOD) >= changedAt(BUILT) &&
  changedAt(BUILT) > Number.NEGATIVE_INFINITY &&
  changedAt(GOOD) > Math.max(...SOURCES.map((path) => changedAt(join(ROOT, path))));

/** Brings dist/ and sandbox/dist/ up to date; other test files wait meanwhile. @throws when the compiler finds an error */
export async function build(): Promise<void> {
  await lock();
  try {
    if (isBuilt()) return;
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json'], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    writeFileSync(GOOD, '');
  } finally {
    rmdirSync(LOCK);
  }
}
