// The front-end example as a visitor uses it: built, type-checked, served by Vite's own preview
// with its proxy to a real gateway, and driven in Chromium from a search to the result of a fold.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, NoDeprecatedCustomRule, parse, specifiedRules, validate } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bestFirst, isRanked } from '../../../examples/frontend/src/rank.ts';
import { findPlace, identifiersIn } from '../../../examples/frontend/src/search.ts';
import { ManualClock } from '../../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { type Served, serve } from '../../subscriptions/streams.ts';
import { ask, openGateway, run } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import { launchBrowser, SOFTWARE_WEBGL } from './chromium.ts';
import { EXAMPLE, look, NO_FRONTEND, openPreview, type Preview, runInExample } from './preview.ts';

const TOKEN = 'word-of-the-visitor';

const clock = new ManualClock(Date.now());
let sandbox: Sandbox;
let gateway: Gateway;
let served: Served;
let browser: Browser;
let preview: Preview;
/** The run of the compiler; resolved when it found nothing. */
let types: Promise<unknown>;

beforeAll(async () => {
  if (NO_FRONTEND) return;
  types = runInExample('gql.tada/bin/cli.js', ['generate-output']).then(() =>
    // Files that have not changed since the last run are not checked again.
    runInExample('typescript/bin/tsc', [
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.cache/types.tsbuildinfo',
    ]),
  );
  types.catch(() => {});
  sandbox = await startSandbox({ size: 'small', clock });
  gateway = openGateway(sandbox.url, {}, { first: 60, slowest: 200 });
  served = await serve(gateway);
  preview = await openPreview(new URL(served.url).origin);
  browser = await launchBrowser(SOFTWARE_WEBGL);
});
afterAll(async () => {
  if (NO_FRONTEND) return;
  await browser.close();
  await preview.close();
  await served.close();
  await gateway.close();
  await sandbox.close();
});

/** Opens the example, and writes down whatever no visitor should cause. */
async function openPage(): Promise<{ page: Page; wrong: string[] }> {
  const page = await browser.newPage({ viewport: { width: 500, height: 700 } });
  // Drawing WebGL with the processor is slow.
  page.setDefaultTimeout(90_000);
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    // A picture that the Atlas does not have, and the connections that are cut below, are no faults
    // of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      wrong.push(message.text());
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !response.url().includes('/thumbnails/'))
      wrong.push(`${response.status()} ${response.url()}`);
  });
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && new URL(request.url()).hostname !== '127.0.0.1')
      wrong.push(request.url());
    if (request.url().includes(TOKEN)) wrong.push('a token in an address');
  });
  await page.goto(preview.url);
  return { page, wrong };
}

it('ranks designs by ipSAE or by ipTM, and those without an interface by pTM behind them', () => {
  const design = (ipsae: number | null, iptm: number | null, ptm: number | null) => ({
    scores: { ipsae, iptm, ptm },
  });
  const sure = design(0.7, 0.2, 0.5);
  const unsure = design(0.6, 0.9, 0.5);
  const apart = design(0, 0.3, 0.9);
  const withoutPae = design(null, 0.95, 0.9);
  const single = [design(null, null, 0.95), design(null, null, 0.2)];
  const byIpsae = [sure, unsure, apart, withoutPae, ...single, { scores: null }];
  expect(byIpsae.toReversed().sort(bestFirst('ipsae'))).toEqual(byIpsae);
  const byIptm = [withoutPae, unsure, apart, sure, ...single, { scores: null }];
  expect(byIptm.toReversed().sort(bestFirst('iptm'))).toEqual(byIptm);
  for (const [order, listed, count] of [
    ['ipsae', byIpsae, 3],
    ['iptm', byIptm, 4],
  ] as const)
    expect(listed.filter((one) => isRanked(order, one))).toEqual(listed.slice(0, count));
});

it('searches for one record of FASTA as a sequence, and lists several', () => {
  const [a, b] = ['>a\nMALWMRLLPLLALL\nALWGPD\n', '>sp|P69905|HBA\nMVLSPADKTN'];
  expect(findPlace(a)).toBe('#/sequence/MALWMRLLPLLALLALWGPD');
  expect(findPlace(a + b)).toBe(`#/table/${encodeURIComponent(`${a}${b}`)}`);
  expect(identifiersIn(a + b)).toEqual([a.trim(), b]);
});

// A browser that draws WebGL with the processor is slow where other tests run beside it.
describe.skipIf(NO_FRONTEND)('the front-end example', { timeout: 300_000 }, () => {
  it('asks only for what the schema has, in types and in documents', async () => {
    const sources = readdirSync(join(EXAMPLE, 'src')).map((file) =>
      readFileSync(join(EXAMPLE, 'src', file), 'utf8'),
    );
    const documents = sources.flatMap((text) =>
      [...text.matchAll(/= graphql\(\s*`([^`]*)`/g)].map(([, document = '']) => document),
    );
    expect(documents.length).toBeGreaterThan(8);
    const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
    const rules = [...specifiedRules, NoDeprecatedCustomRule];
    expect(validate(schema, parse(documents.join('\n')), rules)).toEqual([]);
    await types;
  });

  it('shows a protein from its accession: structure, tracks, cluster, neighbours', async () => {
    const { page, wrong } = await openPage();
    await page.getByRole('textbox').fill('P01308');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Insulin', exact: true }).waitFor();
    await page.locator('.viewer [data-ready=true] canvas').waitFor();
    await expect
      .poll(async () => (await look(page, page.locator('.viewer canvas'))).colours, {
        interval: 500,
      })
      .toBeGreaterThan(100);
    await page.getByRole('slider', { name: 'Residue' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await page.getByText('residue 11 of 110').waitFor();
    expect(await page.locator('.lanes svg').count()).toBe(9);
    await page.getByRole('heading', { name: 'Cluster of' }).waitFor();
    await page.locator('.hits li').first().waitFor();
    await page.locator('.faces a').last().click();
    await page.locator('h1').waitFor();
    expect(page.url()).toMatch(/#\/protein\/[0-9a-f]{32}$/);

    await page.getByRole('textbox').fill('Q99999');
    await page.keyboard.press('Enter');
    await page.getByText('Q99999 is not in the sandbox.').waitFor();
    await page.getByRole('textbox').fill('>new\nMALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKW');
    await page.keyboard.press('Enter');
    await page.getByText('The Atlas does not hold it').waitFor();
    // Words are words, also where all their letters are amino acids.
    for (const words of [
      'helix',
      'acetylmethyltransferase',
      'signal peptide cleavage site in ciliary and granular cells',
    ]) {
      await page.getByRole('textbox').fill(words);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: `for “${words}”` }).waitFor();
    }
    await page.getByText('No feature has these words.').waitFor();
    // Typed by hand: a % that encodes nothing is a word, too.
    await page.evaluate(() => {
      location.hash = '#/features/50%';
    });
    await page.getByRole('heading', { name: 'for “50%”' }).waitFor();
    expect(wrong).toEqual([]);
    await page.close();
  });

  it('looks a long list up part by part, as one table in its order', async () => {
    const { page, wrong } = await openPage();
    const sizes: number[] = [];
    page.on('request', (request) => {
      const body = request.postData() ?? '';
      if (body.includes('query LookUp')) sizes.push(JSON.parse(body).variables.ids.length);
    });
    const list = ['P69905', ...Array.from({ length: 448 }, (_, i) => `0word${i}`), 'P01308'];
    await page.evaluate((text) => {
      location.hash = `#/table/${encodeURIComponent(text)}`;
    }, list.join('\n'));
    await page.getByRole('heading', { name: '2 of 450 found' }).waitFor();
    expect(sizes).toEqual([200, 200, 50]);
    expect(await page.locator('tbody th').allTextContents()).toEqual(list);
    expect(wrong).toEqual([]);
    await page.close();
  });

  it('folds: mistakes at their fields, paid once, watched to the end over a cut, ranked, with PAE', async () => {
    const { page, wrong } = await openPage();
    await page.getByRole('link', { name: 'Fold' }).click();
    const submit = page.getByRole('button', { name: 'Submit' });
    await page.getByLabel('Sequence or FASTA').fill('GIVEQ1');
    await page.locator('.chain .issue', { hasText: 'is not a letter of a protein sequence' }).waitFor();
    expect(await submit.isDisabled()).toBe(true);

    await page.getByLabel('Sequence or FASTA').fill('GIVEQCCTSICSLYQLENYCN');
    await page.getByLabel('Copies').fill('2');
    await page.getByLabel('Your name').fill('insulin A, twice');
    await page.getByLabel('Your token').fill(TOKEN);
    await page.getByText('1 task, 42 residues').waitFor();
    await page.getByLabel('How many times').fill('3');
    await page.getByText('3 tasks, 126 residues').waitFor();
    // The gateway gets the first submission, and its answer is lost: the same form sent again must
    // not pay again.
    let sent = 0;
    await page.route('**/graphql', async (route) => {
      const isSubmission = route.request().postData()?.includes('mutation SubmitFold') === true;
      if (!isSubmission) return route.fallback();
      sent += 1;
      if (sent > 1) return route.fallback();
      await route.fetch();
      return route.abort();
    });
    await submit.click();
    await page.getByText('The gateway cannot be reached').waitFor();
    await submit.click();
    await page.getByRole('heading', { name: 'Folding' }).waitFor();
    expect(sent).toBe(2);
    const mine = await ask(gateway, '{ myBatches { totalCount } }', {}, { authorization: `Bearer ${TOKEN}` });
    expect(at(mine.data, 'myBatches.totalCount')).toBe(1);

    const again = page.waitForRequest((request) => request.postData()?.includes('subscription') === true);
    served.server.closeAllConnections();
    await again;
    const running = run(clock, 20);
    await page.getByRole('heading', { name: 'Finished' }).waitFor();
    running.stop();
    for (const [label, column] of [
      ['ipSAE, then ipTM', 3],
      ['ipTM, then pTM', 4],
    ] as const) {
      await page.getByLabel('Rank by').selectOption({ label });
      const scores = await page.locator(`tbody td:nth-child(${column})`).allInnerTexts();
      expect(scores).toHaveLength(3);
      expect(scores.map(Number)).toEqual(scores.map(Number).sort((a, b) => b - a));
    }
    await page.locator('.viewer [data-ready=true] canvas').waitFor();
    await expect
      .poll(async () => (await look(page, page.locator('.viewer canvas'))).colours, {
        interval: 500,
      })
      .toBeGreaterThan(100);
    expect((await look(page, page.locator('.matrix canvas'))).colours).toBeGreaterThan(20);
    await page.locator('.matrix').hover({ position: { x: 300, y: 50 } });
    await page.getByText(/Aligned on A\d+, B\d+ may be [\d.]+ Å off/).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Structure, mmCIF' }).click(),
    ]);
    expect(readFileSync(await file.path(), 'utf8')).toMatch(/^data_/);
    expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
    expect(wrong).toEqual([]);

    // The same address in another tab, which has no token yet.
    const { page: other } = await openPage();
    await other.goto(page.url());
    await other.getByText('Missing credentials').waitFor();
    expect(await other.getByText('connecting again').count()).toBe(0);
    await other.getByLabel('Your token').fill(TOKEN);
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'Finished' }).waitFor();
    await other.close();
    await page.close();
  });

  it('fits on a phone: long accessions, long names, and what failed', async () => {
    const name = `design_${'0123456789'.repeat(5)}`;
    const items = [{ name, chains: [{ ligand: { ccd: ['QQQQ9'] } }] }];
    const submitted = await ask(
      gateway,
      'mutation ($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch { batchId } } } }',
      { input: { label: name, items } },
      { authorization: `Bearer ${TOKEN}` },
    );
    const { page, wrong } = await openPage();
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${preview.url}#/batch/${at(submitted.data, 'submitFold.batch.batchId')}`);
    expect(await page.title()).toBe('A batch of folds – Protein browser');
    await page.getByLabel('Your token').fill(TOKEN);
    await page.keyboard.press('Enter');
    const running = run(clock, 20);
    await page.getByRole('button', { name: 'failed or were cancelled again' }).waitFor();
    running.stop();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);

    await page.goto(`${preview.url}#/sequence/MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKW`);
    await page.locator('.hits li').first().waitFor();
    const overlaps = await page
      .locator('.hits a')
      .evaluateAll((links) => links.map((link) => link.scrollWidth - link.clientWidth));
    expect(Math.max(...overlaps)).toBe(0);
    expect(wrong).toEqual([]);
    await page.close();
  });
});
