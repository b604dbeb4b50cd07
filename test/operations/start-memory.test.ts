// A process that has started and has nothing to do gives back what only its start needed, and goes on; one that has been used does not.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Fills the young generation as a start does, works for so long, and says whether the young one becomes small before `waitMs` have passed. */
const programFor = (workMs: number, waitMs: number): string => `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { releaseStartMemory } from '${new URL('../../src/process/start-memory.ts', import.meta.url)}';
  const young = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').physical_space_size;
  let made = [];
  for (let n = 0; young() < 12_000_000; n += 1) {
    made.push({ n });
    if (made.length > 500_000) made = [];
  }
  made = [];
  const full = young();
  releaseStartMemory(20);
  // Work begins in a later turn, as requests do.
  await new Promise((ready) => setTimeout(ready, 1));
  const end = performance.now() + ${workMs};
  while (performance.now() < end);
  const since = performance.now();
  const looking = setInterval(() => {
    const isSmall = young() <= full / 4;
    if (!isSmall && performance.now() - since < ${waitMs}) return;
    clearInterval(looking);
    console.log(isSmall ? 'given back' : 'kept');
  }, 20);
`;

const run = (workMs: number, waitMs: number): string =>
  execFileSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', programFor(workMs, waitMs)],
    {
      encoding: 'utf8',
      timeout: 20_000,
    },
  );

it('memory of the start is given back when there is nothing to do', () => {
  expect(run(0, 15_000)).toBe('given back\n');
}, 30_000);

it('a process that has been used keeps what V8 has compiled', () => {
  expect(run(1_200, 1_000)).toBe('kept\n');
}, 30_000);
