// The front page and /llms.txt: what they tell, that their links lead somewhere, that everybody can
// read and use the page.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { createGateway } from '../../../src/gateway.ts';
import { readBrowserExamples, readExamples } from '../../../src/http/pages/examples.ts';
import { testLogger } from '../../record.ts';
import { openWorld } from '../../support.ts';
import { NO_BROWSER } from './chromium.ts';
import {
  faintTexts,
  headingLevels,
  misplacedParts,
  openSite,
  type Site,
  seriousIssues,
  shoot,
} from './site.ts';

let site: Site;
beforeAll(async () => {
  if (!NO_BROWSER) site = await openSite();
});
afterAll(() => site?.close());

const asPage = (path: string, host = 'gateway.test'): Request =>
  new Request(`http://${host}${path}`, { headers: { accept: 'text/html' } });

describe.skipIf(NO_BROWSER)('the front page', () => {
  it('tells the state and leads to every example', async () => {
    const page = await site.open();
    await page.goto(site.url);
    expect(await page.title()).toBe('FoldAtlas');
    const state = page.getByRole('region', { name: 'This gateway' });
    await expect
      .poll(() => state.innerText())
      .toMatch(/embedded sandbox\s+answers[\s\S]*in memory\s+answers/);
    expect(await page.getByRole('complementary').innerText()).toContain('not predictions');
    const examples = page.getByRole('region', { name: 'Examples' });
    const titles = await examples.locator('.examples').getByRole('link').allInnerTexts();
    expect(titles.toSorted()).toEqual(
      readExamples()
        .map(({ title }) => title)
        .toSorted(),
    );
    expect(await examples.locator('a[href^="examples/"]').count()).toBe(readBrowserExamples().length);
    await shoot(page, 'home-light', true);
    expect(await misplacedParts(page)).toEqual([]);
    expect(await seriousIssues(page)).toEqual([]);
    expect(page.troubles).toEqual([]);
    await page.context().close();
  });

  it('says that the upstream does not answer', async () => {
    const config = readConfig({
      UPSTREAM_URL: 'http://127.0.0.1:9',
      STORE_URL: 'memory:',
      LOG_LEVEL: 'silent',
    });
    const gateway = createGateway({ config, upstreamUrl: 'http://127.0.0.1:9', log: testLogger() });
    const server = createServer(gateway.listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    site.allowed.push(url);
    const page = await site.open();
    await page.goto(url);
    const state = page.getByRole('region', { name: 'This gateway' });
    await expect
      .poll(() => state.innerText())
      .toMatch(/127\.0\.0\.1:9\s+does not answer[\s\S]*in memory\s+answers/);
    await page.context().close();
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });

  it('has no link that leads nowhere', async () => {
    const page = await site.open();
    await page.goto(site.url);
    const links = await page
      .locator('a, link, script, img')
      .evaluateAll((all) => all.map((one) => Reflect.get(one, 'href') ?? Reflect.get(one, 'src')));
    expect(links.length).toBeGreaterThan(20);
    for (const link of new Set(links.map((text: string) => text.replace(/[?#].*$/, '')))) {
      const response = await fetch(link, { headers: { accept: 'text/html,*/*' } });
      await response.body?.cancel();
      expect([response.status, link]).toEqual([200, link]);
    }
    await page.context().close();
  });

  it('copies a command that works', async () => {
    const page = await site.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(site.url);
    await page.getByRole('button', { name: 'Copy' }).click();
    const command: string = await page.evaluate('navigator.clipboard.readText()');
    expect(command).toContain(`curl -s ${site.url}graphql`);
    const [, body = ''] = /-d '([\s\S]*)'$/.exec(command) ?? [];
    const response = await fetch(`${site.url}graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(await response.json()).toMatchObject({ data: { uniprotEntry: { protein: { length: 110 } } } });
    await page.context().close();
  });

  it('can be used by keyboard and read by machines', async () => {
    const page = await site.open();
    await page.goto(site.url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Open GraphiQL');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    for (const landmark of ['banner', 'main'] as const)
      expect(await page.getByRole(landmark).count(), landmark).toBe(1);
    const levels = await headingLevels(page);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels.every((level, i) => level <= (levels[i - 1] ?? 0) + 1)).toBe(true);
    expect(await page.locator('img:not([alt])').count()).toBe(0);
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('reads well in %s, on a phone too', async (colorScheme) => {
    const page = await site.open({ colorScheme, viewport: { width: 390, height: 800 } });
    await page.goto(site.url);
    expect(await faintTexts(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(paper).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(14, 20, 34)');
    await shoot(page, `home-phone-${colorScheme}`, true);
    await page.context().close();
  });
});

describe('the front page, without a browser', () => {
  it('links neither GraphiQL nor the schema where they are closed', async () => {
    const world = await openWorld({ NODE_ENV: 'production' });
    const text = await (await world.gateway.fetch(asPage('/'))).text();
    await world.close();
    expect(text).toContain('Query from a shell');
    expect(text).not.toMatch(/href="(graphql|schema\.graphql)/);
  });

  it('is told to agents as text, with every example and the rules', async () => {
    const world = await openWorld({ PUBLIC_URL: 'https://atlas.test/api' });
    const read = async (path: string, accept: string) =>
      (await world.gateway.fetch(new Request(`http://gateway.test${path}`, { headers: { accept } }))).text();
    const text = await read('/llms.txt', 'text/html');
    expect(await read('/', '*/*')).toBe(text);
    expect(text).toMatch(/null means[\s\S]*idempotencyKey/);
    const paths = [...text.matchAll(/https:\/\/atlas\.test\/api(\/\S*)/g)].map(([, path = '']) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/schema.graphql',
        '/ready',
        ...readExamples().map(({ name }) => `/examples/${name}.graphql`),
      ]),
    );
    for (const path of new Set(paths.filter((path) => !/^\/(graphql|export|mcp)/.test(path)))) {
      const response = await world.gateway.fetch(new Request(`http://gateway.test${path}`));
      expect([path, response.status]).toEqual([path, 200]);
    }
    // Every error code that the text names is one that the README explains.
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    const codes = /Codes: ([^.]+)\./.exec(text)?.[1]?.match(/[A-Z_]+/g) ?? [];
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !readme.includes(code))).toEqual([]);
    await world.close();
  });

  const KEY = 'key-of-the-folding-service';
  it.each([
    [
      'each caller has a key',
      {},
      /Folding needs your key of the folding service/,
      /graphql -H &#39;content-type: application\/json&#39; -d/,
      'key of the folding service',
    ],
    [
      'the gateway holds one',
      { UPSTREAM_API_KEY: KEY },
      /its own key for everybody on this machine/,
      /send no key/,
      'no key is needed here',
    ],
    [
      'it holds one for callers with keys',
      { UPSTREAM_API_KEY: KEY, GATEWAY_API_KEYS: 'lab=a-key-of-sixteen-characters' },
      /Every query needs a key of this gateway/,
      /Bearer &lt;your key&gt;&#39; -d/,
      'key of this gateway',
    ],
  ])('says whose key folds where %s', async (_, env, lead, note, hint) => {
    const world = await openWorld(env);
    const front = await (await world.gateway.fetch(asPage('/', 'localhost'))).text();
    const graphiql = await (await world.gateway.fetch(asPage('/graphql', 'localhost'))).text();
    await world.close();
    expect(front).toMatch(lead);
    expect(front).toMatch(note);
    expect(graphiql).toContain(`placeholder="${hint}"`);
    expect(front + graphiql).not.toContain(KEY);
  });

  it('gives no command where only listed operations run', async () => {
    const world = await openWorld({
      PERSISTED_OPERATIONS: 'only',
      PERSISTED_OPERATIONS_FILE: 'operations/persisted-operations.json',
    });
    const front = await (await world.gateway.fetch(asPage('/'))).text();
    await world.close();
    expect(front).toContain('send their <code>documentId</code>');
    expect(front).not.toContain('curl -s');
  });

  it('runs nothing that is written into it', async () => {
    const world = await openWorld({ PUBLIC_URL: 'https://gateway.test/<script>"\'&' });
    const response = await world.gateway.fetch(asPage('/'));
    const text = await response.text();
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>');
    expect(text).not.toMatch(/<script(?![^>]* src=)/);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
    await world.close();
  });
});
