// The sandbox in a thread of its own, as the gateway embeds it.
import { expect, test } from 'vitest';
import { startSandbox, startSandboxThread } from '../../src/sandbox.ts';
import { batch, client, fold, readText } from './harness.ts';

test('it serves, folds and ends like one in this thread, and tells its progress', async () => {
  const lines: string[] = [];
  const sandbox = await startSandboxThread({
    size: 'small',
    speed: 100,
    onProgress: (line) => lines.push(line),
  });
  const call = client(sandbox.url);
  const taskId = readText((await call('submit', batch([fold()]))).data, 'task_id');
  let response: unknown;
  for (let tries = 0; tries < 500 && response === undefined; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    ({ response } = (await call('status', { task_id: taskId })).data);
  }
  expect((await fetch(String(response))).status).toBe(200);
  expect(lines.length).toBeGreaterThan(0);
  await sandbox.close();
  await expect(fetch(sandbox.url)).rejects.toThrow();
});

test('tells its starter what keeps it from starting', async () => {
  const other = await startSandbox({ size: 'small' });
  const port = Number(new URL(other.url).port);
  await expect(startSandboxThread({ size: 'small', port })).rejects.toThrow(
    'set SANDBOX_PORT to another one',
  );
  await other.close();
});
