// Before all tests: compiles what is shipped where it has changed, for tests that start it as a
// process, and makes a folder for what gateways write. After them: nothing that was secret may
// stand there.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaksIn } from './leaks.ts';
import { ROOT } from './root.ts';

export default function setup(): () => void {
  execFileSync(process.execPath, ['scripts/build-if-changed.js'], { cwd: ROOT, stdio: 'inherit' });
  const folder = mkdtempSync(join(tmpdir(), 'foldatlas-record-'));
  process.env.FOLDATLAS_TEST_RECORD = folder;
  return () => {
    const files = readdirSync(folder).map((name) => ({
      name,
      text: readFileSync(join(folder, name), 'utf8'),
    }));
    rmSync(folder, { recursive: true, force: true });
    const secrets = new Set(
      files.filter(({ name }) => name.endsWith('.secrets')).flatMap(({ text }) => text.split('\n')),
    );
    const leaks: string[] = [];
    for (const { text } of files.filter(({ name }) => name.endsWith('.log'))) {
      const found = leaksIn(text, secrets);
      if (found.length === 0) continue;
      for (const line of text.split('\n')) {
        for (const leak of found) if (line.includes(leak)) leaks.push(`${leak} in: ${line.slice(0, 300)}`);
      }
    }
    if (leaks.length === 0) return;
    process.exitCode = 1;
    throw new Error(
      `What must stay secret was written down by the tests' gateways:\n${leaks.slice(0, 20).join('\n')}`,
    );
  };
}
