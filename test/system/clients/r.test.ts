// docs/r.md: its blocks in one run of R, from identifiers to a structure in Bio3D, a ranking and
// the aligned error.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import { openPlace, type Place, SUBMIT } from './place.ts';

const PACKAGES = ['bio3d', 'httr2', 'jsonlite'];
const asked = PACKAGES.map((name) => `library(${name})`).join(';');
const missing = spawnSync('Rscript', ['-e', asked]).status !== 0 && process.env.CI === undefined;

const TOKEN = 'a-reader-of-r';
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-r-'));
let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(async () => {
  await place.close();
  rmSync(folder, { recursive: true });
});

describe.skipIf(missing)('R', () => {
  it('reads a table, a structure, a ranking and the aligned error as the guide shows', async () => {
    const chains = ['GIVEQCCTSICSLYQLENYCN', 'FVNQHLCGSHLVEALYLVCGERGFFYTPKT'].map((sequence) => ({
      protein: { sequence },
    }));
    const input = { items: [{ name: 'insulin', chains, includePae: true }] };
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { data } = await place.world.query(SUBMIT, { input }, headers);
    const batchId = String(at(data, 'submitFold.batch.batchId'));
    await until('the fold to end', async () => {
      const query = `{ batch(batchId: "${batchId}") { status } }`;
      return at((await place.world.query(query, {}, headers)).data, 'batch.status') === 'DONE';
    });
    const guide = readFileSync(new URL('../../../docs/r.md', import.meta.url), 'utf8');
    const blocks = [...guide.matchAll(/^```r\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
    expect(blocks).toHaveLength(4);
    const script = blocks.join('\n').replaceAll('http://127.0.0.1:4000', new URL(place.url).origin);
    writeFileSync(join(folder, 'guide.R'), script.replaceAll('…', batchId));
    const { stdout } = await promisify(execFile)('Rscript', ['--vanilla', 'guide.R'], {
      cwd: folder,
      env: { ...process.env, FOLDATLAS_TOKEN: TOKEN },
      timeout: 100_000,
    });
    expect(stdout).toMatch(/P01308 +FOUND +Insulin +0\.\d+ +\d+/);
    expect(stdout).toMatch(/insulin\? +NOT_AN_IDENTIFIER +<NA>/);
    expect(stdout.match(/Total Models#: 1/g)).toHaveLength(2);
    expect(stdout).toMatch(/insulin +0\.\d+ +0\.\d+ +0\.\d+ +\d+/);
    expect(stdout).toMatch(/Chains#: 2 +\(values: A B\)/);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['best.pdb', 'Rplots.pdf']));
  });
});
