// A process that is told to stop ends, whatever hangs while it is stopped.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = `
import { createLogger } from './src/telemetry/log.ts';
import { installShutdownHandler } from './src/process/shutdown.ts';
setInterval(() => undefined, 1000);
installShutdownHandler({
  log: createLogger('info', true),
  signals: ['SIGTERM'],
  deadlineMs: 300,
  stop: () => new Promise(() => undefined),
});
process.kill(process.pid, 'SIGTERM');
`;

it('ends with 1 at its deadline when something that is to be stopped hangs, and says so', async () => {
  const [code, log] = await new Promise<[unknown, string]>((resolve) => {
    const options = { cwd: ROOT, timeout: 25_000 };
    const program = ['--import', 'tsx', '--input-type=module', '-e', SCRIPT];
    execFile(process.execPath, program, options, (error, _out, err) => resolve([error?.code, err]));
  });
  expect(log).toContain('stopping took too long');
  expect(code).toBe(1);
});
