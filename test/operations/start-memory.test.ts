// A process that has started and has nothing to do gives back what only its start needed, and goes on.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Fills the young generation as a start does, then waits until it is small again and something else has had its turn. */
const PROGRAM = `
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
  const looking = setInterval(() => {
    if (young() > full / 4) return;
    clearInterval(looking);
    console.log('given back');
  }, 20);
`;

it('memory of the start is given back when there is nothing to do', () => {
  const said = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(said).toBe('given back\n');
}, 30_000);
