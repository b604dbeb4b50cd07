// A process that is told to stop ends, whatever hangs while it is stopped.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const script = (options: string, rest: string): string => `
import { createLogger } from './src/telemetry/log.ts';
import { installShutdownHandler } from './src/process/shutdown.ts';
setInterval(() => undefined, 1000);
installShutdownHandler({ log: createLogger('info', true), signals: ['SIGTERM', 'SIGINT'], ${options} });
${rest}
`;

const HANGING = script(
  'deadlineMs: 300, stop: () => new Promise(() => undefined)',
  "process.kill(process.pid, 'SIGTERM');",
);

/** A process that needs three seconds to stop, and is sent a second SIGINT meanwhile. */
const signalledTwice = (afterMs: number): string =>
  script(
    'deadlineMs: 20_000, stop: () => new Promise((resolve) => setTimeout(resolve, 3000))',
    `process.kill(process.pid, 'SIGINT');
setTimeout(() => process.kill(process.pid, 'SIGINT'), ${afterMs});`,
  );

const run = (program: string): Promise<[code: unknown, log: string]> =>
  new Promise((resolve) => {
    const words = ['--import', 'tsx', '--input-type=module', '-e', program];
    execFile(process.execPath, words, { cwd: ROOT, timeout: 100_000 }, (error, _out, err) =>
      resolve([error?.code ?? 0, err]),
    );
  });

it('ends with 1 at its deadline when something that is to be stopped hangs, and says so', async () => {
  const [code, log] = await run(HANGING);
  expect(log).toContain('stopping took too long');
  expect(code).toBe(1);
});

it('stops in order on Ctrl-C below npm, which passes on what the terminal has sent already', async () => {
  expect((await run(signalledTwice(20)))[0]).toBe(0);
});

it('ends at once on a second signal later on', async () => {
  expect((await run(signalledTwice(1000)))[0]).toBe(130);
});
