// The program that asks /health while attacks run: a process of its own, because sending an attack
// keeps a core busy. A line of input with an address and the process that answers there begins to
// ask, and an empty line is the answer. The line `end` ends it: the answer has the milliseconds of
// the slowest answer of /health, and those of the slowest without the time in which the main thread
// of the gateway was ready to run and had no core.
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;
const GIVE_UP_MS = 30_000;

/** Milliseconds for which the main thread of the gateway has waited for a core so far. */
function waited(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** @returns whether it was answered with 200 */
const ask = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asking = get(`${url}/health`, { agent: false, localAddress: '127.0.0.3' }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode === 200));
    });
    asking.on('error', () => resolve(false));
    asking.setTimeout(GIVE_UP_MS, () => asking.destroy());
  });

let isOver = false;

/** Asks until `isOver`. @returns the slowest answer: all of it, and its own part */
async function watch(url: string, pid: string): Promise<string> {
  let slowest = 0;
  let slowestOwn = 0;
  while (!isOver) {
    const before = waited(pid);
    const since = performance.now();
    const milliseconds = (await ask(url)) ? performance.now() - since : Number.POSITIVE_INFINITY;
    slowest = Math.max(slowest, milliseconds);
    slowestOwn = Math.max(slowestOwn, milliseconds - (waited(pid) - before));
    await sleep(EVERY_MS);
  }
  return `${slowest} ${slowestOwn}`;
}

let slowest = Promise.resolve('');
for await (const line of createInterface({ input: process.stdin })) {
  isOver = line === 'end';
  if (isOver) process.stdout.write(`${await slowest}\n`);
  else {
    const [url = '', pid = ''] = line.split(' ');
    await ask(url);
    process.stdout.write('\n');
    slowest = watch(url, pid);
  }
}
