// Downloads of look-ups over real HTTP when clients do as they please: only the head, half of it,
// too slowly.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { type Served, serve } from '../subscriptions/streams.ts';
import { ask, endedLookup, fault, KNOWN, openGateway, run, startLookup } from '../subscriptions/support.ts';
import { at, listAt } from '../support.ts';

const clock = new ManualClock(Date.now());
let sandbox: Sandbox;
let gateway: Gateway;
let served: Served;
let zip: string;
const stray: unknown[] = [];
const keep = (error: unknown) => stray.push(error);

beforeAll(async () => {
  process.on('uncaughtException', keep);
  process.on('unhandledRejection', keep);
  sandbox = await startSandbox({ size: 'small', clock, control: true });
  gateway = openGateway(sandbox.url);
  served = await serve(gateway);
  const clusters = await ask(
    gateway,
    'query($h: [ProteinHash!]!) { proteins(hashes: $h) { cluster { memberHashes } } }',
    { h: KNOWN },
  );
  const hashes = listAt(clusters.data, 'proteins').flatMap((protein) =>
    listAt(protein, 'cluster.memberHashes').slice(0, 64),
  );
  // Activations along the sequence are large, too, and cost the sandbox far less than structures.
  const started = await startLookup(gateway, { hashes, structure: false });
  const running = run(clock, 50);
  const lookup = await endedLookup(gateway, at(started, 'lookupId'));
  running.stop();
  const here = (url: unknown) => String(url).replace('http://gateway.test', new URL(served.url).origin);
  zip = here(at(lookup, 'parts.0.url'));
});
afterAll(async () => {
  await served.close();
  await gateway.close();
  await sandbox.close();
  process.off('uncaughtException', keep);
  process.off('unhandledRejection', keep);
});

const settle = () => new Promise((resolve) => setTimeout(resolve, 300));

describe('downloads', () => {
  it('answer HEAD without a body, and stay well after it', async () => {
    const head = await fetch(zip, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    await settle();
    expect(stray).toEqual([]);
  });

  it('end quietly when the client leaves in the middle', async () => {
    const leaving = new AbortController();
    const response = await fetch(zip, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await settle();
    expect(stray).toEqual([]);
    const again = await fetch(zip);
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  it('read no faster than the client does', async () => {
    const taken = await new Promise<number>((resolve, reject) => {
      const asking = request(zip, (response) => {
        response.pause();
        setTimeout(() => {
          // The bytes that arrived unasked are those that buffers on the way hold.
          resolve(response.socket.bytesRead);
          response.destroy();
        }, 1500);
      });
      asking.on('error', reject);
      asking.end();
    });
    const whole = (await (await fetch(zip)).arrayBuffer()).byteLength;
    expect(whole).toBeGreaterThan(5 * 1024 * 1024);
    expect(taken).toBeLessThan(whole / 2);
    expect(stray).toEqual([]);
  });

  it('say so when the upstream breaks off in the middle', async () => {
    await fault(sandbox.url, { operation: 'download', spoil: 'truncate' });
    const broken = await fetch(zip);
    await expect(broken.arrayBuffer()).rejects.toBeDefined();
    await settle();
    expect(stray).toEqual([]);
  });
});
