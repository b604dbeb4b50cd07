// A sandbox leaves the process that embeds it alone.
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox.ts';

test('starting it changes no global of whoever starts it', async () => {
  const before = [globalThis.Request, globalThis.Response, globalThis.fetch];
  const sandbox = await startSandbox({ size: 'small' });
  await fetch(sandbox.url);
  expect([globalThis.Request, globalThis.Response, globalThis.fetch]).toEqual(before);
  expect(new Request('http://x').constructor).toBe(before[0]);
  await sandbox.close();
});
