// What large answers leave behind: what has died young is given back at once when it is asked for, and what has piled up soon.
import { spawnSync } from 'node:child_process';
import { getHeapSpaceStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { collectYoung } from '../../src/collector.ts';

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_used_size ??
  Number.NaN;

test('the young generation is collected, now and again', () => {
  for (let round = 0; round < 3; round++) {
    let made = 0;
    for (let i = 0; i < 20_000; i++) made += Object.keys({ [`name ${i}`]: i }).length;
    expect(made).toBe(20_000);
    const before = youngBytes();
    collectYoung();
    expect(youngBytes()).toBeLessThan(before);
  }
});

/** Has V8 begin nothing by itself: it would, in a process that waits, and behind what starting it has left. */
const STILL = ['--expose-gc', '--no-memory-reducer'];

/** What a process of its own comes to: what V8 does depends on all that a process has done before. */
function inProcess(code: string, flags: readonly string[] = []): number {
  const own = new URL('../../src/left-behind.ts', import.meta.url).href;
  const collector = new URL('../../src/collector.ts', import.meta.url).href;
  const source = `import { getHeapSpaceStatistics } from 'node:v8';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectYoung } from '${collector}';
import { collectPile, steerYoung } from '${own}';
${code}`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--import', 'tsx', '--input-type=module', '--eval', source],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return Number(stdout);
}

test('what has grown old outside of the heap is collected once it has piled up', () => {
  const left = (look: string): number =>
    inProcess(
      `
globalThis.gc();
collectPile();
let pile = Array.from({ length: 12 }, () => new ArrayBuffer(1_000_000));
for (let round = 0; round < 3; round++) collectYoung();
pile = undefined;
collectYoung();
${look}
for (let i = 0; i < 60 && process.memoryUsage().arrayBuffers > 5_000_000; i++) await sleep(50);
console.log(process.memoryUsage().arrayBuffers);`,
      STILL,
    );
  expect(left('collectPile();')).toBeLessThan(5_000_000);
  expect(left('')).toBeGreaterThan(11_000_000);
});

test('the young generation is made large enough, and no larger', () => {
  const size = (steer: string, flags: readonly string[] = []): number =>
    inProcess(
      `
const kept = [];
for (let round = 0; round < 200; round++) {
  ${steer}
  for (let i = 0; i < 40_000; i++) kept[i % 200_000] = { ['name ' + (i % 50)]: i };
}
console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size);`,
      flags,
    );
  // Whatever it begins with, in megabytes of each half.
  for (const half of [1, 2, 4]) {
    const steered = size('steerYoung();', [`--min-semi-space-size=${half}`]);
    expect(steered).toBeGreaterThan(8_300_000);
    expect(steered).toBeLessThan(20_000_000);
  }
  expect(size('')).toBeGreaterThan(30_000_000);
});
