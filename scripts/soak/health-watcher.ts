// The program that asks /health while an attack runs: a process of its own, because sending an attack keeps a core busy. Its arguments
// are where to ask and the process that answers. At the end of its input it writes the milliseconds of the slowest answer, and those of the
// slowest without the time in which the main thread of the gateway was ready to run and had no core.
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;
const GIVE_UP_MS = 30_000;

const [url = '', pid = ''] = process.argv.slice(2);

/** Milliseconds for which the main thread of the gateway has waited for a core so far. */
function waited(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** @returns whether it was answered with 200 */
const ask = (): Promise<boolean> =>
  new Promise((resolve) => {
    const asking = get(`${url}/health`, { agent: false, localAddress: '127.0.0.3' }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode === 200));
    });
    asking.on('error', () => resolve(false));
    asking.setTimeout(GIVE_UP_MS, () => asking.destroy());
  });

let isOver = false;
process.stdin.resume().once('end', () => {
  isOver = true;
});
let slowest = 0;
let slowestOwn = 0;
await ask();
process.stdout.write('\n');
while (!isOver) {
  const before = waited();
  const since = performance.now();
  const milliseconds = (await ask()) ? performance.now() - since : Number.POSITIVE_INFINITY;
  slowest = Math.max(slowest, milliseconds);
  slowestOwn = Math.max(slowestOwn, milliseconds - (waited() - before));
  await sleep(EVERY_MS);
}
process.stdout.write(`${slowest} ${slowestOwn}`);
