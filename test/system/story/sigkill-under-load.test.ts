// The only gateway is killed in the middle of its work (out of memory, a power cut) and started
// again on its files. What an operator sees: it starts by itself, everything that was answered is
// there, and what was not is never paid twice.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { fault, until } from '../../subscriptions/support.ts';
import {
  batchIds,
  type Ending,
  queuedBatches,
  type ServerProcess,
  startServer,
  submitOnce,
} from '../server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-killed-'));
const file = join(folder, 'gateway.db');
let sandbox: Sandbox;
let server: ServerProcess;
const start = (): Promise<ServerProcess> =>
  startServer({ STORE_URL: `sqlite:${file}`, UPSTREAM_URL: sandbox.url });

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', control: true });
  server = await start();
});
afterAll(async () => {
  await server.end('SIGKILL');
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('SIGKILL under load', () => {
  it('leaves a whole ledger behind: answered batches are known, unanswered keys are never sent twice', async () => {
    await fault(sandbox.url, { operation: 'submit', delay_ms: 80, times: 10_000 });
    const answered = new Map<string, Ending>();
    const lost: string[] = [];
    const loads = Array.from({ length: 6 }, async () => {
      for (;;) {
        const key = randomUUID();
        try {
          answered.set(key, await submitOnce(server, key));
        } catch {
          lost.push(key);
          return;
        }
      }
    });
    await until('some to be answered', () => answered.size >= 20);
    await server.end('SIGKILL');
    await Promise.all(loads);
    await fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' });
    expect(lost).toHaveLength(6);
    expect(answered.size).toBeGreaterThan(0);

    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' });
    database.close();
    server = await start();

    const known = await batchIds(server);
    for (const { kind, batchId } of answered.values()) {
      expect(kind).toBe('FoldSubmitted');
      expect(known).toContain(batchId);
    }
    const before = await queuedBatches(sandbox.url);
    // The process that was killed gives no sign of life: that is known when its lease has run out.
    const again = await Promise.all(lost.map((key) => submitOnce(server, key)));
    for (const { kind, message } of again)
      if (kind === 'OutcomeUnknown') expect(message).toContain('has ended before it knew the outcome');
    // A key in the ledger is replayed or unknown; only a key that never reached the ledger
    // is sent now.
    const sent = again.filter(({ kind, replayed }) => kind === 'FoldSubmitted' && replayed === false);
    for (const { kind } of again) expect(['FoldSubmitted', 'OutcomeUnknown']).toContain(kind);
    expect(await queuedBatches(sandbox.url)).toHaveLength(before.length + sent.length);
    expect(before.length).toBeLessThanOrEqual(answered.size + lost.length - sent.length);
    // Asked once more, nothing changes.
    const thrice = await Promise.all(lost.map((key) => submitOnce(server, key)));
    expect(thrice.map(({ batchId }) => batchId)).toEqual(again.map(({ batchId }) => batchId));
    expect(await queuedBatches(sandbox.url)).toHaveLength(before.length + sent.length);
  });
});
