// GraphiQL in a real browser: comes from the gateway alone, opens examples with their variables,
// sends the token of its field and forgets it with the tab, follows a subscription.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from '../../../src/http/pages/examples.ts';
import { at } from '../../support.ts';
import { NO_BROWSER } from './chromium.ts';
import { misplacedParts, type OpenPage, openSite, type Site, seriousIssues, shoot } from './site.ts';

let site: Site;
let page: OpenPage;
beforeAll(async () => {
  if (NO_BROWSER) return;
  site = await openSite();
  // One window for all: the editor is read once, as for a person.
  page = await site.open({ viewport: { width: 1400, height: 900 } });
});
afterAll(() => site?.close());

/** The editor is 5 MB of script, and machines that test are busy. */
const PATIENT = 90_000;

const goTo = async (path: string): Promise<void> => {
  await page.goto(site.url + path);
  await page.getByRole('button', { name: /execute/i }).waitFor();
};
const execute = (): Promise<void> => page.getByRole('button', { name: /execute/i }).click();
const shown = (text: string | RegExp): Promise<void> =>
  page.locator('.result-window').getByText(text).first().waitFor();
/** The text of an editor, whose lines are placed freely and padded with no-break spaces. */
const editorText = async (part: string): Promise<string> =>
  (await page.locator(`${part} .view-lines`).first().innerText()).replaceAll('\u00a0', ' ');

describe.skipIf(NO_BROWSER)('GraphiQL', () => {
  it(
    'works offline, small, and opens an example beside the tabs that are open',
    async () => {
      let bytes = 0;
      page.on('response', (response) => {
        bytes += Number(response.headers()['content-length'] ?? 0);
      });
      await goTo('graphql');
      await execute();
      await shown('"Insulin"');
      expect(bytes).toBeGreaterThan(500_000);
      expect(bytes).toBeLessThan(2_800_000);
      const menu = page.getByLabel('Example', { exact: true });
      const examples = readExamples();
      expect(await menu.locator('option').allInnerTexts()).toEqual(
        expect.arrayContaining(examples.map(({ title }) => title)),
      );
      await menu.selectOption('Protein card');
      await page.waitForURL(/example=04-protein-card/);
      await page.getByRole('button', { name: /execute/i }).waitFor();
      await expect.poll(() => editorText('.graphiql-query-editor')).toContain('query ProteinCard');
      expect(await editorText('.graphiql-query-editor')).toContain('12e9c9e4e2835c302e8ba615115edda3');
      expect((await page.locator('.graphiql-tab').allInnerTexts()).map((tab) => tab.trim())).toEqual([
        'AccessionToCluster',
        'ProteinCard',
      ]);
      await shoot(page, 'graphiql-light');
      expect(page.troubles).toEqual([]);
    },
    PATIENT,
  );

  it(
    'has enough contrast in light and dark, and no serious fault but that of its tabs',
    async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await goTo('graphql?example=04-protein-card');
        await execute();
        await shown('"Insulin"');
        // GraphiQL puts the button that closes a tab into the tab.
        const own = (await seriousIssues(page)).filter(
          (issue) => !issue.startsWith('nested-interactive: li'),
        );
        expect(own, colorScheme).toEqual([]);
        expect(await misplacedParts(page), colorScheme).toEqual([]);
        await shoot(page, `graphiql-${colorScheme}`);
      }
      await page.emulateMedia({ colorScheme: null });
    },
    PATIENT,
  );

  it(
    'sends the token of its field, keeps it for the tab, and forgets it with the tab',
    async () => {
      const sent: (string | undefined)[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') sent.push(request.headers().authorization);
      });
      await goTo('graphql?example=15-my-batches');
      const field = page.getByLabel('Authorization: Bearer');
      expect(await field.inputValue()).toBe('sandbox');
      expect(await field.getAttribute('type')).toBe('password');
      await field.fill('only-of-this-tab');
      await execute();
      await shown('"totalCount"');
      expect(sent.at(-1)).toBe('Bearer only-of-this-tab');
      await goTo('graphql?example=12-watch-batch');
      expect(await editorText('.graphiql-editor-tool')).toContain('a batchId that 11-submit-fold answered');
      expect(await page.getByLabel('Authorization: Bearer').inputValue()).toBe('only-of-this-tab');
      const stored: string = await page.evaluate('JSON.stringify(localStorage) + document.cookie');
      expect(stored).not.toContain('only-of-this-tab');
      const other = await page.context().newPage();
      await other.goto(`${site.url}graphql`);
      expect(await other.getByLabel('Authorization: Bearer').inputValue()).toBe('sandbox');
      await other.close();
      expect(page.troubles).toEqual([]);
    },
    PATIENT,
  );

  it(
    'submits a fold, fills its id into the next example, and follows it by a subscription',
    async () => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await goTo('graphql?example=12-watch-batch');
      expect(await editorText('.graphiql-editor-tool')).toContain('a batchId that 11-submit-fold answered');
      await goTo('graphql?example=11-submit-fold');
      await page.getByLabel('report upstream calls').check();
      await execute();
      await shown('"batchId"');
      await shown('"upstream"');
      await goTo('graphql?example=20-watch-progress');
      expect(await editorText('.graphiql-editor-tool')).not.toContain('a batchId that');
      await execute();
      await expect.poll(() => editorText('.result-window')).toMatch(/"final": true|"sequence": [1-9]/);
      await shoot(page, 'graphiql-dark');
      expect(page.troubles).toEqual([]);
    },
    PATIENT,
  );

  it(
    'shows each value of an example in one place: in its document, or under Variables',
    async () => {
      for (const { name, variables } of readExamples()) {
        await goTo(`graphql?example=${name}`);
        const names = Object.keys(JSON.parse(variables ?? '{}'));
        const shown = async () => {
          const text = await editorText('.graphiql-editor-tool');
          return Object.keys(JSON.parse(text.trim() === '' ? '{}' : text));
        };
        await expect.poll(shown, { message: name }).toEqual(names);
      }
      expect(page.troubles).toEqual([]);
    },
    2 * PATIENT,
  );

  it.each([
    ['10-check-fold', 'checkFold.items.0.length'],
    ['11-submit-fold', 'submitFold.batch.tasks.nodes.0.inputChains.0.length'],
  ])(
    'runs %s as the reader has edited it in the document',
    async (name, path) => {
      await goTo(`graphql?example=${name}`);
      const { query = '' } = readExamples().find((example) => example.name === name) ?? {};
      const edited = query
        .replace('GIVEQCCTSICSLYQLENYCN', 'MKTAYIAK')
        .replace('modifications: [{ position: 21, ccd: "SEP" }]', '')
        .replace('batchId', 'batchId tasks { nodes { inputChains { length } } }');
      await page.locator('.graphiql-query-editor .view-lines').first().click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(edited);
      const answer = page.waitForResponse(
        (response) => response.request().postData()?.includes('MKTAYIAK') === true,
      );
      await execute();
      const { data } = await (await answer).json();
      expect(at(data, path)).toBe(name === '10-check-fold' ? 16 : 8);
      expect(page.troubles).toEqual([]);
    },
    PATIENT,
  );

  it(
    'is kept by the browser: files for good, the page by its tag',
    async () => {
      const page = await fetch(`${site.url}graphql`, { headers: { accept: 'text/html' } });
      expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self' 'sha256-[^']+';/);
      const again = await fetch(`${site.url}graphql`, {
        headers: { accept: 'text/html', 'if-none-match': page.headers.get('etag') ?? '' },
      });
      expect(again.status).toBe(304);
      const [file = ''] = /assets\/graphiql-app\.[\w-]+\.js/.exec(await page.text()) ?? [];
      const script = await fetch(site.url + file, { method: 'HEAD' });
      expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const other = await fetch(site.url + file.replace(/\.[\w-]+\.js$/, '.0-0-0.js'), { method: 'HEAD' });
      expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect((await fetch(`${site.url}assets/..%2fpackage.json`)).status).toBe(404);
    },
    PATIENT,
  );

  it('says what to do where a script does not come, or none runs', async () => {
    const cut = await site.open();
    await cut.route(/graphiql-app[^/]*\.js/, (route) => route.abort());
    await cut.goto(`${site.url}graphql`);
    await cut.getByRole('status').filter({ hasText: 'could not be loaded. Reload the page.' }).waitFor();
    await cut.context().close();
    const still = await site.open({ javaScriptEnabled: false });
    await still.goto(`${site.url}graphql`);
    const main = still.getByRole('main');
    expect(await main.innerText()).toMatch(/^GraphiQL needs JavaScript\. [^…]*front page shows how\.$/);
    expect(await main.getByRole('link', { name: 'front page' }).getAttribute('href')).toBe('./');
    await still.context().close();
  });
});
