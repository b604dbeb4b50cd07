// Only their own user can read the files of the gateway and the sandbox, whatever the umask, and
// also where an earlier version made them readable by others.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';

const readMode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('the files of a store', () => {
  let root: string;
  let umask: number;
  beforeEach(() => {
    umask = process.umask(0);
    root = mkdtempSync(join(tmpdir(), 'private-'));
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(root, { recursive: true });
  });

  const folder = (): string => join(root, 'data', 'of the gateway');
  async function open() {
    const sandbox = await startSandbox({ size: 'small', dataDir: join(folder(), 'sandbox') });
    const config = readConfig({ STORE_URL: `sqlite:${folder()}/gateway.db`, MAX_CONCURRENT_REQUESTS: '0' });
    const gateway = createGateway({ config, upstreamUrl: sandbox.url, log: testLogger(), sandbox: true });
    await gateway.ready();
    const ask = (token: string) =>
      gateway.fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ query: '{ feature(index: 7) { label } myBatches { totalCount } }' }),
        }),
      );
    expect((await ask('a')).status).toBe(200);
    const close = async () => {
      await gateway.close();
      await sandbox.close();
    };
    return { close };
  }

  it('can be read by their own user only, those that exist already as well', async () => {
    const first = await open();
    const made = filesIn(folder());
    for (const ending of ['gateway.db', '-wal', '-shm', '.secret', 'lock.db'])
      expect(made.some((file) => file.endsWith(ending))).toBe(true);
    for (const file of made) expect(`${file} ${readMode(file)}`).toBe(`${file} 600`);
    for (const path of [join(root, 'data'), folder(), join(folder(), 'sandbox')])
      expect(readMode(path)).toBe('700');
    await first.close();

    for (const file of filesIn(folder())) chmodSync(file, 0o644);
    const second = await open();
    for (const file of filesIn(folder())) expect(`${file} ${readMode(file)}`).toBe(`${file} 600`);
    await second.close();
  });
});
