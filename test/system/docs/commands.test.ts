// Every command in the guides runs: each ```sh block in bash, in a folder of its own, with a
// gateway and a sandbox behind the addresses that the guides use; what cannot be run here says why
// in a comment above it. Servers that a block starts are stopped once they listen.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuideText, guides, ROOT } from '../../docs/guides.ts';
import { at } from '../../support.ts';
import { FOLD, openPlace, type Place, SUBMIT } from '../clients/place.ts';

const run = promisify(execFile);
const TOKEN = 'sandbox';
/**
 * Guides whose blocks have a test that looks at what comes out, test/system/cli/docs.test.ts, and
 * how many it knows.
 */
const ELSEWHERE: Readonly<Record<string, number>> = { 'docs/doctor.md': 1 };

let place: Place;
let batchId = '';
const scratch = mkdtempSync(join(tmpdir(), 'foldatlas-docs-'));

beforeAll(async () => {
  place = await openPlace({
    PERSISTED_OPERATIONS: 'allow',
    PERSISTED_OPERATIONS_FILE: `${ROOT}operations/persisted-operations.json`,
  });
  const { data } = await place.world.query(SUBMIT, FOLD, { authorization: `Bearer ${TOKEN}` });
  batchId = String(at(data, 'submitFold.batch.batchId'));
  mkdirSync(join(scratch, 'bin'));
  const program = `${process.execPath} ${ROOT}`;
  const command = (name: string, text: string) =>
    writeFileSync(join(scratch, 'bin', name), `#!/usr/bin/env bash\n${text}`, { mode: 0o755 });
  // An address that answers 404 is no command that works.
  command('curl', `PATH=${process.env.PATH}; exec curl --fail "$@"\n`);
  command('foldatlas', `exec ${program}dist/cli/main.js "$@"\n`);
  // Replaces the scripts of package.json, built before; a server is stopped in order once it says
  // where it listens.
  command(
    'npm',
    `case "$*" in
  start) main=dist/server.js ;;
  'run sandbox') main=sandbox/dist/main.js ;;
  *) echo "npm $*: this test knows no such script" >&2; exit 64 ;;
esac
said=$(mktemp)
${program}$main >"$said" & server=$!
until grep -q http:// "$said"; do kill -0 $server || { wait $server; exit; }; sleep 0.1; done
kill -TERM $server; wait $server
`,
  );
});
afterAll(async () => {
  await place.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** The block with the addresses of this test in place of the guides'. */
const here = (text: string): string =>
  text
    .replaceAll('http://127.0.0.1:4000', new URL(place.url).origin)
    .replaceAll('http://127.0.0.1:4010', place.world.sandboxUrl)
    .replaceAll(/https:\/\/(api|your-deployment)\.example\.org/g, place.world.sandboxUrl)
    .replaceAll('…', batchId);

/**
 * A folder as a reader has it: clients, examples, packages, and what the guide shows and names in a
 * first line.
 */
function folderFor({ path, blocks }: GuideText): string {
  const folder = join(scratch, path.replaceAll('/', '-'));
  // A second try starts afresh.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of ['clients', 'examples']) symlinkSync(`${ROOT}${name}`, join(folder, name));
  // The packages that the federation guide installs.
  symlinkSync(`${ROOT}test/system/node_modules`, join(folder, 'node_modules'));
  for (const { language, text } of blocks) {
    const name = /^# ([\w.-]+\.(?:ya?ml|graphql))\b/.exec(text)?.[1];
    if (/^(yaml|graphql)$/.test(language) && name !== undefined) writeFileSync(join(folder, name), text);
  }
  return folder;
}

const environment = (): NodeJS.ProcessEnv => ({
  HOME: scratch,
  PATH: `${join(scratch, 'bin')}:${process.env.PATH}`,
  NO_COLOR: '1',
  PYTHONUTF8: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  LOG_LEVEL: 'error',
  PORT: '0',
  SANDBOX_PORT: '0',
  SANDBOX_SIZE: 'small',
  // The servers of commands that start none of their own.
  UPSTREAM_URL: place.world.sandboxUrl,
  FOLDATLAS_URL: place.url,
  FOLDATLAS_TOKEN: TOKEN,
});

const shell = ({ blocks }: GuideText) => blocks.filter(({ language }) => language === 'sh');

describe('the commands of', () => {
  it.each(
    guides.filter(
      (guide) =>
        !Object.hasOwn(ELSEWHERE, guide.path) && shell(guide).some(({ reason }) => reason === undefined),
    ),
  )('$path run', async (guide) => {
    const cwd = folderFor(guide);
    for (const { text, reason } of shell(guide)) {
      if (reason !== undefined) continue;
      const ran = await run('bash', ['-euo', 'pipefail', '-c', here(text)], {
        cwd,
        env: environment(),
        timeout: 100_000,
      }).catch((error: unknown) => Promise.reject(new Error(`${text}\n${String(error)}`)));
      expect(ran.stdout, text).not.toMatch(/^\{"errors"|"errors":\[/);
    }
  });

  it('every guide are blocks of sh, run or with a reason', () => {
    const all = guides.flatMap(({ blocks }) => blocks);
    expect(all.filter(({ language }) => language === 'sh').length).toBeGreaterThan(10);
    // `ts` is compared by test/docs/truth.test.ts, `js` is run by test/shipped/packages.test.ts,
    // `python` by receiver.test.ts, `r` by test/system/clients/r.test.ts; `powershell` says the
    // same as the `sh` above it.
    const known = [...['sh', 'powershell', 'graphql', 'json', 'yaml', 'ts', 'js', 'python', 'r', 'text', '']];
    expect(all.map(({ language }) => language).filter((language) => !known.includes(language))).toEqual([]);
    for (const [path, count] of Object.entries(ELSEWHERE))
      expect(guides.filter((guide) => guide.path === path).flatMap(shell)).toHaveLength(count);
    // No command hides in a block that is not called one.
    for (const { language, text } of all)
      if (language === 'text' || language === '')
        expect(text).not.toMatch(/^\s*\$?\s*(npm|npx|curl|foldatlas|docker|node) /m);
    for (const { reason } of all) if (reason !== undefined) expect(reason).toMatch(/\w{4,}/);
    const skipped = all.filter(({ reason }) => reason !== undefined).length;
    expect(skipped).toBeLessThan(all.length / 3);
  });
});
