// A start leaves the young generation as small as it was, and no gaps in the old one; requests may enlarge them.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { build } from '../built.ts';
import { startServer } from '../server-process.ts';

const MB = 1e6;

/**
 * Makes much that lives for a while, first while the young generation is kept small, then when it may grow and for long enough that it
 * could do so as far as V8 goes, and says how large a half of it is each time.
 */
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { collectSeldom, keepYoungSmall } from '${new URL('../../src/left-behind.ts', import.meta.url)}';
  import { setTimeout as sleep } from 'node:timers/promises';
  const young = () => {
    const { space_used_size, space_available_size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    return space_used_size + space_available_size;
  };
  let made = [];
  const work = (count) => {
    for (let n = 0; n < count; n += 1) {
      made.push({ n });
      if (made.length > 500_000) made = [];
    }
    return young();
  };
  keepYoungSmall();
  const small = work(5_000_000);
  collectSeldom();
  for (let round = 0; round < 30; round += 1) {
    work(500_000);
    await sleep(255);
  }
  console.log(JSON.stringify([small, young()]));
  process.exit();
`;

it('the young generation is kept small until it may grow, and then grows no further than is enough', () => {
  const said = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const [small, grown] = JSON.parse(said) as [number, number];
  // What reads TypeScript has enlarged it a little before.
  expect(small).toBeLessThan(9 * MB);
  expect(grown).toBeGreaterThan(12 * MB);
  // V8 of Node 24 goes to 67 MB.
  expect(grown).toBeLessThan(50 * MB);
}, 90_000);

it('a server that has started holds little that nothing needs any more', async () => {
  await build();
  const env = { STORE_URL: 'memory:', UPSTREAM_URL: 'http://127.0.0.1:9' };
  const server = await startServer(env, { isBuilt: true });
  try {
    const sizeOf = async (what: 'total' | 'used', space: string): Promise<number> => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      const name = `nodejs_heap_space_size_${what}_bytes{space="${space}"} `;
      return Number(
        metrics
          .split('\n')
          .find((line) => line.startsWith(name))
          ?.slice(name.length),
      );
    };
    expect(await sizeOf('total', 'new')).toBeGreaterThan(0);
    expect(await sizeOf('total', 'new')).toBeLessThan(5 * MB);
    const gaps = async () => (await sizeOf('total', 'old')) / (await sizeOf('used', 'old'));
    await expect.poll(gaps).toBeLessThan(1.12);
    expect(await gaps()).toBeGreaterThan(1);
  } finally {
    await server.end('SIGTERM');
  }
}, 120_000);
