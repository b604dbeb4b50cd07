// The disk of the store is full: no file of the gateway can grow. What an operator sees: queries
// are answered, submissions whose key cannot be written down are refused before anything is sent
// and may be sent again, the few whose key just fitted are told that their batch is not remembered,
// the log says why, and once there is room everything goes on with nothing lost that was
// remembered. (A limit on the size of files is put on the process, which to SQLite is the same as a
// full disk.)
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { until } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import {
  batchIds,
  type Ending,
  queuedBatches,
  type ServerProcess,
  startServer,
  submitOnce,
} from '../server-process.ts';

const MOST_KIBIBYTES = 512;
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-full-'));
const file = join(folder, 'gateway.db');
let sandbox: Sandbox;
let server: ServerProcess;
const env = () => ({ STORE_URL: `sqlite:${file}`, UPSTREAM_URL: sandbox.url });

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', control: true });
  server = await startServer(env(), { largestFileKibibytes: MOST_KIBIBYTES });
});
afterAll(async () => {
  await server.end('SIGKILL');
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a full disk', () => {
  it('stops what could be paid twice, nothing else, and loses nothing', async () => {
    const kept: Ending[] = [];
    const refused: string[] = [];
    let forgotten = 0;
    for (let i = 0; refused.length < 3; i += 1) {
      if (i > 400) throw new Error(`the disk is not full yet: ${statSync(`${file}-wal`).size}`);
      const before = (await queuedBatches(sandbox.url)).length;
      const ending = await submitOnce(server, `key ${i}`);
      // The key could be taken but the batch not written down any more: its caller is told, and
      // that key cannot be used again.
      if (ending.isForgotten) forgotten += 1;
      else if (ending.kind === 'FoldSubmitted') kept.push(ending);
      else {
        expect(ending).toMatchObject({ kind: 'Refused', reason: 'UNREACHABLE' });
        expect(await queuedBatches(sandbox.url)).toHaveLength(before);
        refused.push(`key ${i}`);
      }
    }
    expect(kept.length).toBeGreaterThan(0);
    expect(server.log()).toMatch(/ledger/);
    const entry = await server.ask('{ uniprotEntry(id: "P01308") { protein { hash cluster { size } } } }');
    expect(entry.errors).toBeUndefined();
    expect(at(entry.data, 'uniprotEntry.protein.hash')).toBe('12e9c9e4e2835c302e8ba615115edda3');
    // It still knows what it wrote before.
    const known = await batchIds(server);
    for (const { batchId } of kept) expect(known).toContain(batchId);

    // Each question writes a little, until there is no room for that either.
    await until('it to be unready', async () =>
      (await (await fetch(`${server.url}/ready`)).text()).includes('full or read-only'),
    );

    // It is started again on the full disk: what can be read is answered, and nothing is sent that
    // could be paid twice.
    expect(await server.end('SIGTERM')).toBe(0);
    server = await startServer(env(), { largestFileKibibytes: 0 });
    const ready = await fetch(`${server.url}/ready`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('full or read-only')]);
    const read = await server.ask('{ uniprotEntry(id: "P01308") { protein { length } } }');
    expect(read).toEqual({ data: { uniprotEntry: { protein: { length: 110 } } } });
    const before = await batchIds(server);
    for (const { batchId } of kept) expect(before).toContain(batchId);
    const queued = await queuedBatches(sandbox.url);
    expect(await submitOnce(server, refused[0] ?? '')).toMatchObject({
      kind: 'Refused',
      reason: 'UNREACHABLE',
    });
    expect(await queuedBatches(sandbox.url)).toEqual(queued);

    // The disk gets room again.
    expect(await server.end('SIGTERM')).toBe(0);
    server = await startServer(env());
    const later = await batchIds(server);
    for (const { batchId } of kept) expect(later).toContain(batchId);
    for (const key of refused)
      expect(await submitOnce(server, key)).toMatchObject({ kind: 'FoldSubmitted', replayed: false });
    expect(await queuedBatches(sandbox.url)).toHaveLength(kept.length + forgotten + refused.length);
  });
});
