// What `npm publish` would send from a checkout in which everything was installed and built.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../../root.ts';

const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

it('the package has the files of the repository that it names, and what was compiled', () => {
  const named = ['examples', 'docs', 'public'];
  const [{ files }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])) as [
    { files: { path: string }[] },
  ];
  const paths = files.map(({ path }) => path);
  // npm leaves out `.npmrc` and `.gitignore`.
  const tracked = run('git', ['ls-files', ...named])
    .trim()
    .split('\n')
    .filter((path) => !path.includes('/.'));
  expect(paths.filter((path) => named.includes(path.split('/')[0] ?? '')).sort()).toEqual(tracked.sort());
  expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(['dist/server.js', 'dist/cli/main.js', 'schema.graphql']));
});
