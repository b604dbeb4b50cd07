// Installs what this folder needs, unless what is installed is newer than the lock file. Runs before anything here can be compiled.
import { execSync } from 'node:child_process';
import { statSync } from 'node:fs';

const timeOf = (file) => statSync(new URL(file, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (timeOf('node_modules/.package-lock.json') < timeOf('package-lock.json'))
  execSync('npm ci --no-audit --no-fund', { cwd: new URL('.', import.meta.url), stdio: 'inherit' });
