// The sandbox's README is true: its example runs, its variables and numbers are the code's.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { JOB_LIMITS } from '../../src/atlas/bulk-jobs.ts';
import { readEnvironment } from '../../src/environment.ts';
import { defaultLimits } from '../../src/limits.ts';
import { createRoutes } from '../../src/routes.ts';
import { readWireSettings } from '../../src/wire/settings.ts';
import { startHeld } from './harness.ts';

const text = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

test('the example of a submission is accepted', async () => {
  const body = /-d '(\{.*?\})'\n/s.exec(text)?.[1] ?? '';
  const held = await startHeld();
  expect((await held.call('submit', body)).data).toMatchObject({ total_items: 8 });
  await held.sandbox.close();
});

test('every variable that is told of is read, every one that is read is told of', () => {
  const told = new Set(text.match(/SANDBOX_[A-Z_]+/g));
  const code = readFileSync(new URL('../../src/environment.ts', import.meta.url), 'utf8');
  expect([...told].sort()).toEqual([...new Set(code.match(/SANDBOX_[A-Z_]+/g))].sort());
  expect(readEnvironment({})).toMatchObject({
    options: {
      host: '127.0.0.1',
      port: 4010,
      dataDir: '.data/sandbox',
      seed: 20260501,
      size: 'full',
      speed: 1,
    },
  });
});

test('the numbers are those of the limits', () => {
  const { startDelayMs, taskBaseMs, taskPerTokenMs, taskMaxMs, runningTasks } = defaultLimits;
  expect(text).toContain(`before its first task starts | ${startDelayMs / 1000} s |`);
  expect(text).toContain(
    `| ${taskBaseMs / 1000} s and ${taskPerTokenMs} ms a token, at most ${taskMaxMs / 1000} s,`,
  );
  expect(text).toContain(`| tasks at the same time | ${runningTasks},`);
  expect(text).toContain(`in any 60 seconds | ${defaultLimits.submissionsPerMinute} |`);
  expect(text).toContain(`| ${defaultLimits.creditsPerDay.toLocaleString('en')} |`);
  expect(text).toContain(`all copies | ${defaultLimits.maxTokens.toLocaleString('en')} |`);
  expect(text).toContain(`| body | ${defaultLimits.maxBodyBytes / 1024 / 1024} MiB |`);
});

test('the numbers of bulk jobs are those of the Atlas', () => {
  const { msPerProtein, proteinsPerStep, resultHours } = JOB_LIMITS;
  expect(text).toContain(
    `a job of ${msPerProtein} ms a protein, in steps of ${proteinsPerStep}; its zip is kept for ${resultHours} hours`,
  );
});

test('every operation that a fault can name is told of', () => {
  for (const { operation } of createRoutes(readWireSettings({})).all)
    expect(text).toContain(`\`${operation}\``);
});
