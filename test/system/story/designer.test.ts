// The day of a designer: 2,300 designs in three formats, one of them wrong, through the Python
// shell. The client is killed between two batches, the gateway after it and once more while the
// service folds. The sandbox says what was paid.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { endWithFile } from '../../child-processes.ts';
import { ROOT } from '../../root.ts';
import { fault, until } from '../../subscriptions/support.ts';
import { batchIds, type ServerProcess, startServer } from '../server-process.ts';

const DESIGNS = 2300;
const TOKEN = 'a-designer';
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-designer-'));
let sandbox: Sandbox;
let server: ServerProcess;

const start = (port = '0'): Promise<ServerProcess> =>
  startServer({ PORT: port, STORE_URL: `sqlite:${join(folder, 'gateway.db')}`, UPSTREAM_URL: sandbox.url });

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', control: true, speed: 1e6 });
  server = await start();
});
afterAll(async () => {
  await server.end('SIGKILL');
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts `foldatlas` of the Python client. */
function spawnShell(...words: string[]): ChildProcess {
  const env = {
    PATH: process.env.PATH,
    PYTHONPATH: `${ROOT}clients/python/src`,
    PYTHONUTF8: '1',
    FOLDATLAS_URL: `${server.url}/graphql`,
    FOLDATLAS_TOKEN: TOKEN,
  };
  return endWithFile(spawn('python3', ['-B', '-m', 'foldatlas', ...words], { cwd: folder, env }));
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function ended(child: ChildProcess): Promise<Ran> {
  if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
  const [[code], out, err] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: typeof code === 'number' ? code : null, out, err };
}

const shell = (...words: string[]): Promise<Ran> => ended(spawnShell(...words));

/** The batches that the sandbox was paid for, and their progress. */
async function paid(): Promise<{ batches: number; tasks: number; done: number; faults: number }> {
  const state = (await (await fetch(`${sandbox.url}/control`)).json()) as {
    batches: { counts: Record<string, number> }[];
    faults: unknown[];
  };
  const counts = state.batches.flatMap((batch) => Object.entries(batch.counts));
  const sum = (some: typeof counts) => some.reduce((total, [, count]) => total + count, 0);
  return {
    batches: state.batches.length,
    tasks: sum(counts),
    done: sum(counts.filter(([name]) => name === 'done')),
    faults: state.faults.length,
  };
}

const hold = (isHeld: boolean) =>
  fetch(`${sandbox.url}/control/queue`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ hold: isHeld }),
  });

/** A short target with a binder that no other design has, as three programs write it. */
const TARGET = 'GIVEQ';
const binder = (number: number): string =>
  [400, 20, 1].map((size) => 'ACDEFGHIKLMNPQRSTVWY'[Math.floor(number / size) % 20]).join('');
const FORMATS: readonly ((number: number, sequence?: string) => [ending: string, content: string])[] = [
  (number) => ['fasta', `>design\n${TARGET}:${binder(number)}\n`],
  (number) => [
    'json',
    JSON.stringify({
      name: 'design',
      modelSeeds: [1],
      dialect: 'alphafold3',
      version: 1,
      sequences: [TARGET, binder(number)].map((sequence, place) => ({
        protein: { id: 'AB'[place], sequence },
      })),
    }),
  ],
  (number, sequence = binder(number)) => [
    'yaml',
    `version: 1\nsequences:\n  - protein: { id: A, sequence: ${TARGET} }\n  - protein: { id: B, sequence: ${sequence} }\n`,
  ],
];

/** Few are YAML, which Python reads slowly. */
function write(number: number, sequence?: string): void {
  const format = number % 25 === 0 ? 2 : number % 2;
  const [ending, content] = FORMATS[format]?.(number, sequence) ?? ['', ''];
  writeFileSync(join(folder, 'designs', `design${String(number).padStart(4, '0')}.${ending}`), content);
}

it('folds 2,300 designs through kills of the client and the gateway, and pays for each once', {
  timeout: 300_000,
}, async () => {
  mkdirSync(join(folder, 'designs'));
  for (let number = 0; number < DESIGNS; number += 1) write(number);
  const wrong = 2000;
  write(wrong, 'AC3');

  const refused = await shell('check', 'designs', '--pae');
  expect(refused.err).toContain(`designs/design${wrong}.yaml: sequences[1].protein.sequence`);
  expect(refused.err).toContain('1 mistake');
  expect(refused.code).toBe(65);
  write(wrong);
  const checked = await shell('check', 'designs', '--pae');
  expect(checked.out).toContain('2,300 tasks, 18,400 residues and nucleotides in all, in 2 batches');
  expect(checked.code).toBe(0);
  expect(await paid()).toMatchObject({ batches: 0 });

  // The service is asked for the second batch, and slow to answer, when the client is killed.
  await hold(true);
  await fault(sandbox.url, { operation: 'submit' });
  await fault(sandbox.url, { operation: 'submit', delay_ms: 500 });
  const killed = spawnShell('fold', 'designs', '--pae', '--out', 'results');
  await until('the second batch to be sent', async () => (await paid()).faults === 0);
  killed.kill('SIGKILL');
  await until('both to be known', async () => (await batchIds(server, TOKEN)).length === 2);
  const port = new URL(server.url).port;
  await server.end('SIGKILL');
  server = await start(port);

  const folded = await shell('fold', 'designs', '--pae', '--out', 'results');
  expect(folded.err).toContain('Submitted before');
  expect(folded.code).toBe(0);
  const batches = folded.out.trim().split('\n');
  expect(batches.sort()).toEqual((await batchIds(server, TOKEN)).sort());
  expect(await paid()).toMatchObject({ batches: 2, tasks: DESIGNS, done: 0 });

  // The gateway is killed again while it is watched.
  const watched = ended(spawnShell('watch', 'results'));
  await hold(false);
  await until('some to be folded', async () => (await paid()).done > 300);
  await hold(true);
  await server.end('SIGKILL');
  server = await start(port);
  await hold(false);
  const seen = await watched;
  expect(seen.code).toBe(0);
  expect(seen.err).toMatch(/2300\/2300 · 2300 done\n$/);

  const ranked = await shell('rank', 'results', '--by', 'ipsae', '--ndjson');
  expect(ranked.code).toBe(0);
  const rows = ranked.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; ipsae: number; batch_id: string; rank: number });
  expect(rows.map(({ rank }) => rank)).toEqual(Array.from({ length: DESIGNS }, (_, place) => place + 1));
  expect(rows.map(({ ipsae }) => ipsae)).toEqual(rows.map(({ ipsae }) => ipsae).sort((a, b) => b - a));
  expect(new Set(rows.map(({ name }) => name)).size).toBe(DESIGNS);
  expect([...new Set(rows.map(({ batch_id }) => batch_id))].sort()).toEqual(batches);

  const best = await shell('results', 'results', '--by', 'ipsae', '--best', '10');
  expect(best.code).toBe(0);
  const names = rows.slice(0, 10).flatMap(({ name }) => [`${name}.cif`, `${name}.json`]);
  expect(readdirSync(join(folder, 'results')).sort()).toEqual(
    [...names, 'foldatlas.json', 'scores.tsv'].sort(),
  );
  expect(await paid()).toMatchObject({ batches: 2, tasks: DESIGNS, done: DESIGNS });
});
