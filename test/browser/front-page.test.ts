// The front page in a real browser: what it tells, that its links lead somewhere, that everybody can read and use it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { readExamples } from '../../src/http/pages/examples.ts';
import { testLogger } from '../record.ts';
import { fault } from '../subscriptions/support.ts';
import { openWorld } from '../support.ts';
import { reached } from '../transport.ts';
import { NO_BROWSER } from './chromium.ts';
import { faintTexts, headingLevels, openSite, type Site, shoot } from './site.ts';

let site: Site;
beforeAll(async () => {
  if (!NO_BROWSER) site = await openSite();
});
afterAll(() => site?.close());

const asPage = (path: string, host = 'gateway.test'): Request =>
  new Request(`http://${host}${path}`, { headers: { accept: 'text/html' } });

describe.skipIf(NO_BROWSER)('the front page', () => {
  it('tells the state, shows proteins and leads to every example', async () => {
    const page = await site.open();
    await page.goto(site.url);
    expect(await page.title()).toBe('FoldAtlas');
    const state = page.getByRole('region', { name: 'This gateway' });
    // Where the machine is busy, a first page may be sent before the upstream has answered.
    await expect
      .poll(async () => (await page.reload()) && state.innerText(), { interval: 1000 })
      .toMatch(/embedded sandbox\s+answers[\s\S]*in memory\s+answers/);
    expect(await page.getByRole('complementary').innerText()).toContain('not predictions');
    const proteins = page.getByRole('region', { name: 'Some proteins of the Atlas' });
    expect(await proteins.getByRole('link').count()).toBeGreaterThan(5);
    expect(await proteins.innerText()).toContain('Insulin');
    const drawn = await proteins
      .locator('img')
      .first()
      .evaluate(async (image) => {
        if (!(image instanceof HTMLImageElement)) return 0;
        await image.decode();
        return image.naturalWidth;
      });
    expect(drawn).toBeGreaterThan(100);
    const examples = page.getByRole('region', { name: 'Examples' });
    const titles = await examples.locator('.examples').getByRole('link').allInnerTexts();
    expect(titles.toSorted()).toEqual(
      readExamples()
        .map(({ title }) => title)
        .toSorted(),
    );
    expect(await examples.locator('a[href^="examples/"]').count()).toBe(3);
    const guides = page.getByRole('region', { name: 'Guides' });
    expect(await guides.getByRole('link').first().innerText()).toBe('FoldAtlas');
    await shoot(page, 'home-light', true);
    expect(page.troubles).toEqual([]);
    await page.context().close();
  });

  it('has no link that leads nowhere', async () => {
    const page = await site.open();
    await page.goto(site.url);
    const links = await page
      .locator('a, link, script, img')
      .evaluateAll((all) => all.map((one) => Reflect.get(one, 'href') ?? Reflect.get(one, 'src')));
    expect(links.length).toBeGreaterThan(30);
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
    for (const landmark of ['banner', 'navigation', 'main'] as const)
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
  it('stands when the upstream is away, and says so', async () => {
    const config = readConfig({
      UPSTREAM_URL: 'http://127.0.0.1:9',
      STORE_URL: 'memory:',
      LOG_LEVEL: 'silent',
      NODE_ENV: 'production',
    });
    const upstreamUrl = 'http://127.0.0.1:9';
    const gateway = reached(createGateway({ config, upstreamUrl, log: testLogger() }));
    const response = await gateway.fetch(asPage('/'));
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toMatch(/127\.0\.0\.1:9 <span class="state bad">does not answer/);
    expect(text).toMatch(/in memory <span class="state good">answers/);
    expect(text).toContain('No proteins yet');
    expect(text).not.toMatch(/href="(graphql|reference)/);
    expect(text).toContain('How to query');
    expect(text).not.toContain('Sandbox');
    await gateway.close();
  });

  const KEY = 'key-of-the-folding-service';
  it.each([
    [
      'each caller has a key',
      {},
      /needs no key[\s\S]*under your own key/,
      /Folding needs/,
      'key of the folding service',
    ],
    [
      'the gateway holds one',
      { UPSTREAM_API_KEY: KEY },
      /you need none/,
      /send no key/,
      'no key is needed here',
    ],
    [
      'it holds one for callers with keys',
      { UPSTREAM_API_KEY: KEY, GATEWAY_API_KEYS: 'lab=a-key-of-sixteen-characters' },
      /Every query\s+needs a key of this gateway/,
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

  it('leaves out a protein that has no picture', async () => {
    const world = await openWorld({}, { control: true });
    // The first one that is asked for is insulin.
    const body = { detail: 'No structure.' };
    await fault(world.sandboxUrl, { operation: 'thumbnail', status: 404, body, times: 1 });
    const shown = async () =>
      [...(await (await world.gateway.fetch(asPage('/'))).text()).matchAll(/class="name">([^<]+)/g)].map(
        ([, name]) => name,
      );
    await expect
      .poll(shown, { interval: 200 })
      .toSatisfy((names: string[]) => names.length > 5 && !names.includes('Insulin'));
    await world.close();
  });

  it('asks for no proteins where their pictures need a key', async () => {
    const world = await openWorld({
      UPSTREAM_API_KEY: KEY,
      GATEWAY_API_KEYS: 'lab=a-key-of-sixteen-characters',
    });
    const front = await (await world.gateway.fetch(asPage('/', 'localhost'))).text();
    expect(front).not.toContain('Some proteins of the Atlas');
    expect(world.counts().uniprot).toBeUndefined();
    await world.close();
  });

  it('gives no command where only listed operations run', async () => {
    const world = await openWorld({
      PERSISTED_OPERATIONS: 'only',
      PERSISTED_OPERATIONS_FILE: 'persisted-operations.json',
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
