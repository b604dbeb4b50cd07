// The receiver of webhooks in docs/clients.md: it takes a webhook with a good signature once, and
// refuses others.
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendWebhook } from '../../../src/progress/webhook-request.ts';
import { openServiceConnections } from '../../../src/upstream/http/connections.ts';
import { guides } from '../../docs/guides.ts';
import { freePort } from '../../store/redis-place.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const connections = openServiceConnections();
let receiver: ChildProcess;
let url = '';
let printed = '';

const send = (secret: string, id: string) =>
  sendWebhook(
    { id, url, body: '{"type":"batch.ended","data":{"batchId":"b1","status":"DONE"}}' },
    { connections, secrets: [secret], timeoutMs: 5000, signal: AbortSignal.timeout(20_000) },
  );

beforeAll(async () => {
  const blocks = guides.flatMap((guide) => guide.blocks).filter(({ language }) => language === 'python');
  expect(blocks).toHaveLength(1);
  const port = await freePort();
  url = `http://127.0.0.1:${port}/hook`;
  receiver = spawn('python3', ['-u', '-c', blocks[0]?.text ?? ''], {
    env: { PATH: process.env.PATH, SECRET, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  receiver.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
}, 30_000);
afterAll(async () => {
  receiver.kill();
  await connections.close();
});

it('refuses a webhook with the signature of another secret', async () => {
  await expect.poll(() => send(OTHER_SECRET, 'wrong')).toMatchObject({ kind: 'failed', reason: 'HTTP 401' });
  expect(printed).toBe('');
});

it('takes a webhook once, however often it is sent', async () => {
  expect(await send(SECRET, 'right')).toEqual({ kind: 'delivered' });
  expect(await send(SECRET, 'right')).toEqual({ kind: 'delivered' });
  await expect.poll(() => printed).toContain('b1');
  expect(printed.trim().split('\n')).toHaveLength(1);
});
