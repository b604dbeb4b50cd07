// The guides as pages: every one is rendered, every link of theirs leads somewhere, and an address at which there is nothing says
// what there is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDocsFiles } from '../../src/http/pages/docs-files.ts';
import { renderMarkdown } from '../../src/http/pages/guide-page.ts';
import { textOf } from '../../src/http/pages/html.ts';
import { openWorld, type World } from '../support.ts';
import { NO_BROWSER } from './chromium.ts';
import { faintTexts, headingLevels, misplacedParts, openSite, type Site, shoot } from './site.ts';

const guides = readDocsFiles();

describe.skipIf(NO_BROWSER)('the guides', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site?.close());

  it('have no link that leads nowhere, and no Markdown left', async () => {
    const page = await site.open();
    const links = new Set<string>();
    const ids = new Set<string>();
    for (const { name, title } of guides) {
      await page.goto(`${site.url}docs/${name}`);
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(title.replaceAll('`', ''));
      expect((await headingLevels(page)).filter((level) => level === 1)).toEqual([1]);
      for (const id of await page.locator('main [id]').evaluateAll((all) => all.map((one) => one.id)))
        ids.add(`docs/${name}#${id}`);
      const hrefs = await page
        .locator('main a[href], main img')
        .evaluateAll((all) => all.map((one) => Reflect.get(one, 'href') ?? Reflect.get(one, 'src')));
      for (const href of hrefs) links.add(String(href));
      const prose = await page.locator('main').evaluate((main) => {
        for (const code of main.querySelectorAll('code')) code.remove();
        return main.textContent ?? '';
      });
      expect(prose, name).not.toMatch(/\]\(|\*\*|^#{1,6} |^\|/m);
    }
    const own = [...links]
      .filter((link) => link.startsWith(site.url))
      .map((link) => link.slice(site.url.length));
    expect(own.length).toBeGreaterThan(25);
    for (const link of own) {
      const response = await fetch(site.url + link, { headers: { accept: 'text/html,*/*' } });
      await response.body?.cancel();
      expect([link, response.status]).toEqual([link, 200]);
      if (link.startsWith('docs/') && link.includes('#')) expect([...ids]).toContain(link);
    }
    expect(page.troubles).toEqual([]);
    await page.context().close();
  });

  it('and all other pages have one main heading, landmarks around everything, and no empty table headers', async () => {
    const page = await site.open();
    for (const path of [
      ...[
        '',
        'graphql',
        'reference',
        'docs/README.md',
        'docs/operators.md',
        'docs/performance.md',
        'nothing',
      ],
      ...['websocket.html', 'fetch-sse.html', 'event-source.html'].map((name) => `examples/${name}`),
    ]) {
      await page.goto(site.url + path);
      if (path === 'graphql') await page.locator('.graphiql-container').first().waitFor();
      expect(await misplacedParts(page), path).toEqual([]);
    }
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('read well in %s, on a phone too', async (colorScheme) => {
    for (const width of [1280, 390]) {
      const page = await site.open({ colorScheme, viewport: { width, height: 800 } });
      for (const name of ['operators.md', 'nothing.md']) {
        await page.goto(`${site.url}docs/${name}`);
        expect(await faintTexts(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        await shoot(page, `guide-${name}-${width}-${colorScheme}`);
      }
      await page.context().close();
    }
  });

  it('say in each cell of a wide table on a phone what it is, and print code whole', async () => {
    const page = await site.open({ viewport: { width: 390, height: 800 } });
    await page.goto(`${site.url}docs/upstream-calls.md`);
    const headings = (row: string) =>
      page
        .locator('tr', { hasText: row })
        .locator('td')
        .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content));
    expect(await headings('ProteinCardDeferred')).toEqual(['none', '"rich: "', '"plain: "']);
    await page.goto(`${site.url}docs/clients.md`);
    expect(await headings('QUERY_TOO_EXPENSIVE')).toEqual(['none', 'none']);
    await page.emulateMedia({ media: 'print' });
    const hidden = await page
      .locator('pre')
      .evaluateAll((blocks) => blocks.filter((block) => block.scrollWidth > block.clientWidth).length);
    expect(hidden).toBe(0);
    await page.context().close();
  });
});

describe('without a browser', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
  const get = (path: string, accept: string): Promise<Response> =>
    world.gateway.fetch(new Request(`http://gateway.test${path}`, { headers: { accept } }));

  it('a guide is its Markdown, and an example its query', async () => {
    const guide = await get('/docs/clients.md', '*/*');
    expect(guide.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await guide.text()).toMatch(/^# Writing clients\n/);
    const example = await get('/examples/01-accession-to-cluster.graphql', '*/*');
    expect(await example.text()).toContain('uniprotEntry');
  });

  it.each([
    ['/nothing/at/all', /GraphQL is at \/graphql/],
    ['/docs/nothing.md', /\/docs\/operators\.md/],
    ['/examples/nothing', /\/examples\/fetch-sse\.html/],
  ])('%s is a 404 that says what there is', async (path, what) => {
    const text = await get(path, '*/*');
    expect([text.status, text.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8']);
    expect(await text.text()).toMatch(what);
  });

  it('the address of all examples leads to their list', async () => {
    const index = await get('/examples/', 'text/html');
    expect([index.status, index.headers.get('location')]).toEqual([302, '../#examples']);
    expect(await index.text()).toContain('/examples/01-accession-to-cluster.graphql\n');
    const unknown = await get('/examples/nothing', 'text/html');
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('a browser gets a page with links that hold from any depth', async () => {
    const response = await get('/nothing/at/%3Cscript%3E', 'text/html');
    const page = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(page).toContain('href="../../graphql"');
    expect(page).not.toContain('<script>');
  });

  it('renders what guides use, and escapes the rest', () => {
    const resolve = (target: string) => (target.startsWith('no') ? null : `to/${target}`);
    const rendered = (text: string) => textOf(renderMarkdown(text, resolve)).trim();
    expect(rendered('## The `a|b` *secret*!')).toBe(
      '<h2 id="the-ab-secret">The <code>a|b</code> <em>secret</em>!</h2>',
    );
    expect(rendered('A <b>\nand [`x` **y**](z#w) [gone](no).')).toBe(
      '<p>A &lt;b&gt;\nand <a href="to/z#w"><code>x</code> <strong>y</strong></a> <span title="no">gone</span>.</p>',
    );
    expect(rendered('```sh\n<a> | `b`\n```')).toBe('<pre tabindex="0"><code>&lt;a&gt; | `b`</code></pre>');
    expect(rendered('| a | b |\n|---|---|\n| `x\\|y` | z |').replaceAll('\n', '')).toContain(
      '<td><code>x|y</code></td><td>z</td>',
    );
    expect(rendered('- a\n  more\n  - b\n- c\n\n1. d').replaceAll('\n', '')).toBe(
      '<ul><li>amore<ul><li>b</li></ul></li><li>c</li></ul><ol><li>d</li></ol>',
    );
  });
});
