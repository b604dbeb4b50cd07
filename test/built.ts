// Compiles the gateway to dist/ for tests of what is shipped: once at a time, and only what has changed.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmdirSync, statSync } from 'node:fs';
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

/** Brings dist/ up to date; other test files wait meanwhile. @throws when the compiler finds an error */
export async function build(): Promise<void> {
  await lock();
  try {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
      cwd: ROOT,
      stdio: 'inherit',
    });
  } finally {
    rmdirSync(LOCK);
  }
}
