// Lines of the log reach standard error whole and in their order, however long they are and
// whatever letters they hold.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';

const LINES = 400;
/** Letters of one, two, three and four bytes. */
const LETTERS = ['a', 'é', '☃', '🧬'];
/** Longer than all that is gathered before it is written, now and then. */
const writeLine = (n: number): string => `${LETTERS[n % 4]}`.repeat(n % 50 === 7 ? 40_000 : (n * 37) % 900);

const PROGRAM = `
  import { createLogger } from '${new URL('../../../src/telemetry/log.ts', import.meta.url)}';
  const writeLine = ${writeLine.toString()};
  const LETTERS = ${JSON.stringify(LETTERS)};
  const log = createLogger('info', true);
  for (let n = 0; n < ${LINES}; n += 1)
    log[n % 100 === 1 ? 'warn' : 'info']({ n, text: writeLine(n) }, 'line');
`;

test('lines of all sizes and letters are written whole, in their order', () => {
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', PROGRAM],
    {
      encoding: 'utf8',
      timeout: 100_000,
      maxBuffer: 64 * 1024 ** 2,
    },
  );
  expect(status).toBe(0);
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { n: number; text: string });
  expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: LINES }, (_, n) => n));
  for (const { n, text } of lines) expect(text).toBe(writeLine(n));
});

const FULL = '/dev/full';
test.skipIf(!existsSync(FULL))(
  'a log on a full disk neither ends the process nor keeps it from ending',
  () => {
    const disk = openSync(FULL, 'w');
    const { stdout, status, signal } = spawnSync(
      process.execPath,
      [
        ...['--import', 'tsx', '--input-type=module', '-e'],
        `${PROGRAM}
       setTimeout(() => { console.log('goes on'); log.error('the last one'); process.exit(0); }, 500);`,
      ],
      { encoding: 'utf8', timeout: 100_000, stdio: ['ignore', 'pipe', disk] },
    );
    closeSync(disk);
    expect({ stdout, status, signal }).toEqual({ stdout: 'goes on\n', status: 0, signal: null });
  },
);
