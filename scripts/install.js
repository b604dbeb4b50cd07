// Installs what folders with a lock file of their own need, such as bench/, unless what is
// installed is newer than the lock file: node scripts/install.js FOLDER ...
import { execSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

for (const folder of process.argv.slice(2))
  if (
    changedAt(join(folder, 'node_modules/.package-lock.json')) < changedAt(join(folder, 'package-lock.json'))
  )
    execSync('npm ci --no-audit --no-fund', { cwd: folder, stdio: 'inherit' });
