// Batches after a restart: none is lost or doubled, also when the process was killed in
// the middle.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endWithFile } from '../../../test/child-processes.ts';
import { ManualClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/database.ts';
import { startSandbox } from '../../src/sandbox.ts';
import { type Answer, batch, client, DAY, fold, isJson, readItems, readText, startHeld } from './harness.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sandbox-restart-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** `npm run sandbox` in a process of its own; resolves with its URL once it says so. */
function spawnSandbox(
  env: Record<string, string>,
): Promise<{ process: ChildProcess; url: string; line: string }> {
  const child = endWithFile(
    spawn(process.execPath, ['sandbox/dist/main.js'], {
      env: { ...process.env, SANDBOX_SIZE: 'small', SANDBOX_PORT: '0', SANDBOX_DATA: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const [line, url] = /\*\*\* SANDBOX at (\S+) .*/.exec(output) ?? [];
      if (url !== undefined && line !== undefined) resolve({ process: child, url, line });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
}

const ended = (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> =>
  new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.kill(signal);
  });

async function until(read: () => Promise<Answer>, holds: (answer: Answer) => boolean): Promise<Answer> {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await read();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not come to that');
}

/** The tasks as they lie on disk, while no sandbox runs. */
function tasksOnDisk(): Map<string, { state: string; attempts: number }> {
  const database = openDatabase(join(dataDir, 'sandbox.db'));
  const rows = database.prepare('SELECT task_id, state, attempts FROM tasks').all();
  database.close();
  return new Map(
    rows.map((row) => [String(row.task_id), { state: String(row.state), attempts: Number(row.attempts) }]),
  );
}

test.each(['memory', 'memory:'])('writes nothing to disk for the data folder %s', async (dataDir) => {
  const sandbox = await startSandbox({ size: 'small', dataDir });
  await sandbox.close();
  expect(existsSync(dataDir)).toBe(false);
});

test('killed with SIGKILL while tasks are finished, running and queued, it takes up all of them once', async () => {
  const first = await spawnSandbox({ SANDBOX_SPEED: '3' });
  const call = client(first.url);
  const id = readText(
    (await call('submit', batch([fold(), fold('MKTAYIAKQR')], { repeat: 6 }))).data,
    'batch_id',
  );
  const request = { batch_id: id, include_responses: true };
  const before = await until(
    () => call('list', request),
    ({ data }) =>
      ['done', 'in_progress', 'queued'].every((state) => isJson(data.counts) && state in data.counts),
  );
  const done = readItems(before).filter(({ status }) => status === 'done');
  const task = { task_id: done[0]?.task_id };
  const signed = new URL(readText((await call('status', task)).data, 'response'));
  const result = await (await fetch(signed)).text();
  await ended(first.process, 'SIGKILL');
  // The tasks that ran at the moment of the kill: since the List above a task may have finished and
  // another begun.
  const killed = [...tasksOnDisk()].filter(([, { state }]) => state === 'in_progress').map(([id]) => id);
  expect(killed).not.toEqual([]);

  const second = await spawnSandbox({ SANDBOX_SPEED: '50' });
  const again = client(second.url);
  const resumed = readItems(await again('list', request));
  expect(resumed.map(({ task_id }) => task_id)).toEqual(readItems(before).map(({ task_id }) => task_id));
  const after = await until(
    () => again('list', request),
    ({ data }) => data.status === 'done',
  );
  expect(after.data.counts).toEqual({ done: 12 });
  expect(await (await fetch(new URL(signed.pathname + signed.search, second.url))).text()).toBe(result);
  expect(await ended(second.process, 'SIGTERM')).toBe(0);

  const tasks = tasksOnDisk();
  expect(tasks.size).toBe(12);
  for (const { task_id } of done) expect(tasks.get(String(task_id))?.attempts).toBe(1);
  for (const [task_id, { attempts }] of tasks) expect(attempts).toBe(killed.includes(task_id) ? 2 : 1);
});

test('time that passed while it was down counts: the deadline is applied at the start, retention too', async () => {
  const clock = new ManualClock();
  const first = await startHeld({ dataDir, clock, speed: 1e-5 });
  const id = readText((await first.call('submit', batch([fold()], { repeat: 3 }))).data, 'batch_id');
  const other = readText((await first.call('submit', batch([fold(), fold()]))).data, 'batch_id');
  await first.call('cancel', { task_id: `${other}-00001` });
  await first.sandbox.close();
  clock.advance(DAY - 1);
  const second = await startHeld({ dataDir, clock, speed: 1e-5 });
  expect((await second.call('list', { batch_id: id })).data.counts).toEqual({ queued: 3 });
  clock.advance(1);
  expect((await second.call('list', { batch_id: id })).data).toMatchObject({
    status: 'cancelled',
    counts: { cancelled: 3 },
  });
  await second.sandbox.close();
  clock.advance(30 * DAY);
  const third = await startHeld({ dataDir, clock });
  expect((await third.call('status', { task_id: `${other}-00001` })).status).toBe(410);
  await third.sandbox.close();
});

test('a task that runs beyond the retention of its batch is still run again after a restart', async () => {
  const clock = new ManualClock();
  const limits = { startDelayMs: 0, taskBaseMs: 40 * DAY, taskMaxMs: 40 * DAY };
  const first = await startHeld({ dataDir, clock, limits });
  const id = readText((await first.call('submit', batch([fold(), fold()]))).data, 'batch_id');
  clock.advance(31 * DAY + 1);
  expect((await first.call('list', { batch_id: id })).data.counts).toEqual({ in_progress: 2 });
  await first.call('submit', batch([fold()]));
  await first.sandbox.close();
  const second = await startHeld({ dataDir, clock, limits });
  clock.advance(60 * DAY);
  expect((await second.call('list', { batch_id: id })).data).toMatchObject({
    status: 'done',
    counts: { done: 2 },
  });
  expect((await second.call('status', { task_id: `${id}-00000` })).status).toBe(410);
  await second.sandbox.close();
});

test('a folder belongs to one running sandbox; a start that fails gives it back', async () => {
  const first = await startSandbox({ size: 'small', dataDir });
  await expect(startSandbox({ size: 'small', dataDir })).rejects.toThrow(
    'another running sandbox uses the folder',
  );
  await expect(startSandbox({ size: 'small', port: Number(new URL(first.url).port) })).rejects.toThrow(
    'set SANDBOX_PORT to another one',
  );
  await first.close();
  const taken = await startSandbox({ size: 'small' });
  const port = Number(new URL(taken.url).port);
  await expect(startSandbox({ size: 'small', dataDir, port })).rejects.toThrow(
    'set SANDBOX_PORT to another one',
  );
  await taken.close();
  await (await startSandbox({ size: 'small', dataDir })).close();
});

test('the start line is loud about what it is; bad variables are all named at once', async () => {
  const started = await spawnSandbox({});
  expect(started.line).toMatch(/SANDBOX at http:\/\/127\.0\.0\.1:\d+ .*stand-in.*NO PREDICTION/);
  await ended(started.process, 'SIGTERM');
  await expect(
    spawnSandbox({ SANDBOX_PORT: '70000', SANDBOX_SIZE: 'huge', SANDBOX_SPEED: '0' }),
  ).rejects.toThrow(/ended with 78: SANDBOX_PORT: .*SANDBOX_SIZE: .*SANDBOX_SPEED: /s);
  await expect(spawnSandbox({ SANDBOX_CLOCK: 'manual' })).rejects.toThrow('set SANDBOX_CONTROL=1 too');
});
