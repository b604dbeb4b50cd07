// Loads the gateway for a while and watches it: `npm run soak -- --seconds 60`. The gateway is a
// process of its own over a sandbox whose faults come and go; nothing but loopback is contacted.
// Ends with a table, and with code 1 when something of ours failed: an INTERNAL_SERVER_ERROR, a
// 500, memory that keeps growing, sockets that stay, an end that is not clean. With `--hostile` it
// runs the attacks of scripts/soak/attacks.ts instead; `--only 7` those whose name begins so.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startSandboxThread } from '../sandbox/src/sandbox.ts';
import { startServer } from '../test/system/server-process.ts';
import { judge } from './soak/judge.ts';
import { startLoad } from './soak/load.ts';
import { METRICS_TOKEN, type Sample, takeSample } from './soak/sample.ts';

/** Between two samples. */
const SAMPLE_MS = 2_000;
/** After the load: what leaves late has left. */
const CALM_MS = 6_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    hostile: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
if (values.hostile) {
  const { runHostile } = await import('./soak/hostile.ts');
  process.exit((await runHostile(values.only)) ? 0 : 1);
}
const seconds = Number(values.seconds);
if (!(seconds >= 10)) throw new Error('--seconds must be 10 or more.');

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-soak-'));
const sandbox = await startSandboxThread({ size: 'small', control: true, speed: 20 });
const server = await startServer({
  UPSTREAM_URL: sandbox.url,
  STORE_URL: `sqlite:${join(folder, 'gateway.db')}`,
  RATE_LIMIT_PER_MINUTE: '0',
  MAX_SUBSCRIPTIONS: '0',
  // Cached records would hide the upstream and its faults.
  CACHE_RECORDS_SECONDS: '0',
  SHUTDOWN_SECONDS: '10',
  METRICS_TOKEN,
});

const samples: Sample[] = [];
const since = performance.now();
const load = startLoad(server.url, sandbox.url);
while (performance.now() - since < seconds * 1000) {
  await sleep(SAMPLE_MS);
  samples.push(await takeSample(server, performance.now() - since));
}
await load.stop();
await sleep(CALM_MS);
const calm = await takeSample(server, performance.now() - since);
const code = await server.end('SIGTERM');
await sandbox.close();
rmSync(folder, { recursive: true, force: true });

const problems = judge({ samples, calm, seen: load.seen, exitCode: code, log: server.log() });
process.stdout.write('\n seconds   memory MB   heap MB   loop ms   sockets   files\n');
for (const { at, memory, heap, loop, sockets, files } of [...samples, calm]) {
  const cells = [at / 1000, memory / 1e6, heap / 1e6, loop * 1000, sockets, files];
  process.stdout.write(`${cells.map((cell) => cell.toFixed(0).padStart(9)).join(' ')}\n`);
}
process.stdout.write('\nwhat was answered:\n');
for (const [what, count] of [...load.seen].sort())
  process.stdout.write(`${String(count).padStart(9)}  ${what}\n`);
process.stdout.write(problems.length === 0 ? '\nNothing is wrong.\n' : `\n${problems.join('\n')}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
