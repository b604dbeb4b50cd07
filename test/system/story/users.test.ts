// The five kinds of users, each from a first page to what they came for, as they type, click and
// read it in a browser. DOCS_IMAGES=1 also takes the pictures of docs/images.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import type { BrowserContextOptions, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFERENCE_PROTEINS } from '../../../sandbox/src/atlas/reference-proteins.ts';
import { readGuide } from '../../docs/guides.ts';
import { ROOT } from '../../root.ts';
import { unknownHash } from '../../subscriptions/support.ts';
import { SOFTWARE_WEBGL } from '../browser/chromium.ts';
import { look, NO_FRONTEND, openPreview, type Preview } from '../browser/preview.ts';
import { type OpenPage, openSite, picture, type Site, seriousIssues } from '../browser/site.ts';

let site: Site;
let preview: Preview;
const folder = mkdtempSync(join(tmpdir(), 'users-'));
beforeAll(async () => {
  if (NO_FRONTEND) return;
  const operations = {
    PERSISTED_OPERATIONS: 'allow',
    PERSISTED_OPERATIONS_FILE: `${ROOT}operations/persisted-operations.json`,
  };
  site = await openSite(operations, SOFTWARE_WEBGL);
  preview = await openPreview(new URL(site.url).origin);
  site.allowed.push(preview.url);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await preview?.close();
  await site?.close();
});

const visit = async (url: string, options: BrowserContextOptions = {}): Promise<OpenPage> => {
  const page = await site.open({ viewport: { width: 1100, height: 780 }, ...options });
  page.setDefaultTimeout(90_000);
  await page.goto(url);
  return page;
};

/** Closes the window after a last look: nothing must have gone wrong on its pages. */
async function leave(page: OpenPage): Promise<void> {
  // A protein may have no picture.
  const wrong = page.troubles.filter((line) => !/\/thumbnails\/|^Failed to load resource/.test(line));
  expect(wrong).toEqual([]);
  await page.context().close();
}

const bash = (command: string) =>
  promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], { cwd: folder });
const readText = async (file: Download): Promise<string> => readFileSync(await file.path(), 'utf8');

/** Writes over what the editor of GraphiQL holds, runs it and waits for a text in the answer. */
async function runInGraphiql(page: Page, query: string, answer: string): Promise<void> {
  // The lines of a long query are a layer that is taller than the editor: its middle may lie
  // outside.
  await page
    .locator('.graphiql-query-editor .view-lines')
    .first()
    .click({ position: { x: 10, y: 10 } });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await page.keyboard.type(query);
  // The tab gets its name when the editor has read the query.
  await page.locator('.graphiql-tab', { hasText: '<untitled>' }).waitFor();
  await page.getByRole('button', { name: /execute/i }).click();
  await page.locator('.result-window').getByText(answer).first().waitFor();
}

// A browser that draws WebGL with the processor is slow where other tests run beside it.
describe.skipIf(NO_FRONTEND)('in a browser,', { timeout: 300_000 }, () => {
  it('a front-end developer asks in GraphiQL, then by copied code, by a listed operation and from an example page', async () => {
    const page = await visit(site.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    expect(await seriousIssues(page)).toEqual([]);
    for (const look of ['light', 'dark', 'phone']) await picture(page, `front-${look}`);
    await page.getByRole('button', { name: 'Copy' }).click();
    const copied: string = await page.evaluate('navigator.clipboard.readText()');
    expect((await bash(copied)).stdout).toContain('"length":110');

    await page.getByRole('link', { name: 'Open GraphiQL' }).click();
    await page.getByRole('button', { name: /execute/i }).waitFor();
    await runInGraphiql(page, '{ feature(index: 7) { label } }', '"label"');
    // docs/clients.md: a listed operation is asked for by the SHA-256 of its text.
    const text = readFileSync(`${ROOT}examples/01-accession-to-cluster.graphql`);
    const documentId = createHash('sha256').update(text).digest('hex');
    const listed = await page.evaluate(
      async (id) =>
        (await fetch(`graphql?documentId=${id}`, { headers: { accept: 'application/json' } })).text(),
      documentId,
    );
    expect(listed).toContain('"Insulin"');

    await page.getByLabel('Example', { exact: true }).selectOption({ label: 'Submit fold' });
    await page.waitForURL(/example=11/);
    await page.getByRole('button', { name: /execute/i }).click();
    await page.locator('.result-window').getByText('"batchId"').first().waitFor();
    await picture(page, 'graphiql-light');
    const answer = await page.locator('.result-window').innerText();
    const [, batchId = ''] = /"batchId":\s*"([^"]+)"/.exec(answer.replaceAll('\u00a0', ' ')) ?? [];
    await page.goto(site.url);
    await page.getByRole('link', { name: /fetch and Server-Sent Events/ }).click();
    await page.getByLabel('Batch id').fill(batchId);
    await page.getByRole('button', { name: 'Watch' }).click();
    await page.getByText('4 of 4, finished').waitFor();
    await leave(page);
  });

  it('a computational biologist pastes 500 identifiers and saves a table in the same order, gaps shown', async () => {
    const known = REFERENCE_PROTEINS.flatMap(({ accession, entryName, md5 }) => [accession, entryName, md5]);
    const gaps = ['Q99999', 'MGYP000261684433', 'no protein', unknownHash(1)];
    const ids = Array.from({ length: 500 }, (_, i) =>
      String(i % 10 === 3 ? gaps[((i / 10) % 4) | 0] : known[(i * 7) % known.length]),
    );
    const page = await visit(preview.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate((text) => navigator.clipboard.writeText(text), ids.join('\n'));
    await page.getByRole('textbox', { name: /Accessions, entry names/ }).focus();
    await page.keyboard.press('ControlOrMeta+V');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '450 of 500 found' }).waitFor();
    expect(await page.locator('tbody th').allInnerTexts()).toEqual(ids);
    expect(await page.locator('tbody .gap').count()).toBe(50);
    await page.getByText('Q99999 is not in the sandbox.').first().waitFor();
    expect(await page.locator('tbody tr').nth(0).innerText()).toContain('Homo sapiens');
    expect(await seriousIssues(page)).toEqual([]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Table, TSV' }).click(),
    ]);
    const lines = (await readText(file))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'));
    expect(lines.map(([requested]) => requested)).toEqual(ids);
    const statuses = new Set(lines.filter((_, i) => i % 10 === 3).map(([, status]) => status));
    expect(statuses).toEqual(new Set(['NO_SUCH_ENTRY', 'NOT_IN_ATLAS', 'NOT_AN_IDENTIFIER']));

    await page.locator('tbody a').first().click();
    await page.getByText(/^Homo sapiens · \w+ · \w+_HUMAN/).waitFor();
    await page.locator('.viewer [data-ready=true] canvas').waitFor();
    await picture(page, 'protein-dark');
    await page.goto(`${site.url}graphql?example=25-look-up-anything`);
    await page.getByRole('button', { name: /execute/i }).click();
    await page.locator('.result-window').getByText('"Homo sapiens"').first().waitFor();
    await leave(page);
  });

  it('a protein designer folds designs, sees a ranked one, and submits again what failed', async () => {
    const page = await visit(preview.url);
    await page.getByRole('link', { name: 'Fold' }).click();
    const submit = page.getByRole('button', { name: 'Submit', exact: true });
    await page.getByLabel('Sequence or FASTA').fill('FVNQHLCGSHLVEALYLVCGERGFFYTPKT');
    await page.getByRole('button', { name: 'Add a chain' }).click();
    const binders = page.getByLabel('Sequence or FASTA').nth(1);
    await binders.fill('>short\nGIVEQ1');
    await page.getByText('is not a letter of a protein sequence').waitFor();
    expect(await submit.isDisabled()).toBe(true);
    // The last is longer than the service can fold.
    const fasta = `>short\nGIVEQCCTSICSLYQLENYCN\n>helix\n${'AEELLKKAEEL'.repeat(3)}\n>huge\n${'MKTAYIAKQR'.repeat(210)}`;
    await binders.fill(fasta);
    await page.getByLabel('Your name').fill('binders');
    await page.getByLabel('How many times').fill('2');
    await page.getByLabel('Your token').fill('designer');
    await page.getByText('6 tasks').waitFor();
    expect(await seriousIssues(page)).toEqual([]);
    await submit.click();
    await page.getByRole('heading', { name: 'Finished' }).waitFor();
    await picture(page, 'batch-light');
    const scores = (await page.locator('tbody td:nth-child(3)').allInnerTexts()).slice(0, 4).map(Number);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));

    await page.locator('tbody tr').nth(2).getByRole('button').click();
    const name = await page.locator('tbody tr[aria-current=true] th').innerText();
    expect(await page.locator('tbody tr').nth(2).getAttribute('aria-current')).toBe('true');
    const shown = page.getByRole('region', { name });
    await expect.poll(async () => (await shown.boundingBox())?.y).toBeLessThan(50);
    expect(await shown.evaluate((element) => element === document.activeElement)).toBe(true);
    await shown.locator('[data-ready=true] canvas').waitFor();
    await page.getByLabel('Colour by').selectOption('chain');
    await page.getByText('chain B').waitFor();
    const seen = await look(page, shown.locator('canvas').first());
    expect(seen.colours).toBeGreaterThan(50);
    for (const [start, end] of [seen.across, seen.down]) {
      expect(start).toBeGreaterThan(0.01);
      expect(end).toBeLessThan(0.99);
      expect(Math.abs(start + end - 1)).toBeLessThan(0.15);
    }
    expect(Math.max(seen.across[1] - seen.across[0], seen.down[1] - seen.down[0])).toBeGreaterThan(0.75);
    expect(await seriousIssues(page)).toEqual([]);
    for (const look of ['light', 'phone']) await picture(page, `design-${look}`);
    const [table] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Scores, TSV' }).click(),
    ]);
    const rows = (await readText(table)).trimEnd().split('\n');
    expect(rows).toHaveLength(7);
    expect(rows[6]).toContain('out of memory');
    const [archive] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'All files, ZIP' }).click(),
    ]);
    const files = Object.keys(unzipSync(readFileSync(await archive.path())));
    expect(files.filter((file) => file.endsWith('.cif'))).toHaveLength(4);
    expect(files).toContain('manifest.json');

    await page.getByRole('button', { name: 'Submit the 2 that failed' }).click();
    await page.getByRole('heading', { name: 'binders, again' }).waitFor();
    await page.getByText('2 failed').waitFor();
    await page.getByRole('link', { name: 'My batches' }).click();
    await page.getByText('failed: 0 of 2 done').waitFor();
    expect(await page.locator('.batches a').allInnerTexts()).toEqual(['binders, again', 'binders']);
    await leave(page);
  });

  it('an operator reads how the gateway is', async () => {
    const page = await visit(site.url, { colorScheme: 'dark' });
    const state = page.getByRole('region', { name: 'This gateway' });
    await expect.poll(() => state.innerText()).toMatch(/sandbox\s+answers[\s\S]*in memory\s+answers/);
    expect(await seriousIssues(page)).toEqual([]);
    for (const [path, what] of [
      ['health', '{"alive":true}'],
      ['ready', '"state":"ready"'],
      ['metrics', '# TYPE foldatlas_'],
    ] as const)
      expect(await (await fetch(site.url + path)).text()).toContain(what);
    await leave(page);
  });

  it('a platform engineer takes schema and commands from the federation guide, and composes a supergraph', async () => {
    const blocks = readGuide('docs/federation.md').blocks.map(({ text }) => text);
    writeFileSync(join(folder, 'lab.graphql'), blocks.find((text) => text.startsWith('# lab.graphql')) ?? '');
    symlinkSync(join(ROOT, 'test/system/node_modules'), join(folder, 'node_modules'));
    const command = blocks.find((text) => text.includes('composeServices')) ?? '';
    await bash(command.replaceAll('http://127.0.0.1:4000/', site.url));
    const supergraph = readFileSync(join(folder, 'supergraph.graphql'), 'utf8');
    expect(supergraph).toContain(`@join__graph(name: "foldatlas", url: "${site.url}graphql")`);
    expect(supergraph).toMatch(/type Protein[\s\S]*samples: \[Sample!\]!/);
    const schema = (await bash(`curl -s ${site.url}schema.graphql`)).stdout;
    expect(schema).toContain('type Protein implements Node');
    expect(schema).not.toContain('_entities');
  });
});
