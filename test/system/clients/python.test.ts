// The Python client and its command line: its own unittest suites by a real python3, over a gateway
// that serves the sandbox.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlace, type Place } from './place.ts';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../../clients/python', import.meta.url));

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());

describe('the Python client', () => {
  it.each([
    ['tests.test_inputs', 'reads what people fold'],
    ['tests.test_shapes', 'reads every wrong shape as a sentence or as the same molecule'],
    ['tests.test_malicious', 'trusts no gateway'],
    ['tests.test_transport', 'comes through a gateway that is busy or breaks off'],
    ['tests.test_screen', 'folds folders, over several batches, and pays for none of them twice'],
    ['tests.test_gateway_commands', 'hands the commands of the npm package on'],
    ['tests.test_gateway.Library', 'looks up, folds, saves and ranks'],
    ['tests.test_gateway.Places', 'names mistakes by their places in the file'],
    ['tests.test_gateway.CommandLine', 'does the same from the command line'],
  ])('%s: %s', async (suite) => {
    place.world.forget();
    const { stderr } = await run('python3', ['-B', '-m', 'unittest', suite], {
      cwd: FOLDER,
      env: { ...process.env, PYTHONPATH: 'src', PYTHONUTF8: '1', FOLDATLAS_TEST_URL: place.url },
    });
    expect(stderr).toMatch(/^Ran [1-9]\d* tests in [\d.]+s\n\nOK\n$/m);
  });

  it('pays once for one input', async () => {
    place.world.forget();
    const code = `
from foldatlas import FoldAtlas, chain
for _ in range(2):
    FoldAtlas().submit([{"chains": [chain("protein", "GIVEQCC")]}])`;
    for (let i = 0; i < 2; i += 1)
      await run('python3', ['-B', '-c', code], {
        env: {
          ...process.env,
          PYTHONPATH: `${FOLDER}/src`,
          FOLDATLAS_URL: place.url,
          FOLDATLAS_TOKEN: 'once',
        },
      });
    expect(place.world.counts()).toMatchObject({ submit: 1 });
  });
});
