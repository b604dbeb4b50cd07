// The schema reference in a real browser: complete, searched by keyboard, readable without scripts and by everybody.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from '../../src/http/pages/examples.ts';
import { schema } from '../../src/resolvers/schema.ts';
import { openWorld } from '../support.ts';
import { NO_BROWSER } from './chromium.ts';
import { faintTexts, headingLevels, openSite, type Site, shoot } from './site.ts';

let site: Site;
beforeAll(async () => {
  if (!NO_BROWSER) site = await openSite();
});
afterAll(() => site?.close());

/** Every name that must have an anchor, as the page writes it. */
const anchors = (): string[] =>
  Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => {
      const of = (names: string[]) => [type.name, ...names.map((name) => `${type.name}.${name}`)];
      if (isEnumType(type)) return of(type.getValues().map(({ name }) => name));
      if (isInputObjectType(type)) return of(Object.keys(type.getFields()));
      if (!isObjectType(type) && !isInterfaceType(type)) return of([]);
      return of(
        Object.values(type.getFields()).flatMap(({ name, args }) => [
          name,
          ...args.map((arg) => `${name}.${arg.name}`),
        ]),
      );
    });

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

describe.skipIf(NO_BROWSER)('the schema reference', () => {
  it('finds ipTM by keyboard and goes there', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${site.url}reference`);
    await page.keyboard.press('/');
    const box = page.getByRole('combobox', { name: 'Search the schema' });
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    await page.keyboard.type('ipTM');
    const options = page.getByRole('option');
    await options.first().waitFor();
    const found = await options.allInnerTexts();
    expect(found[0]).toContain('.iptm');
    const place = found.findIndex((text) => text.includes('FoldResult.iptm'));
    for (let i = 0; i < place; i += 1) await page.keyboard.press('ArrowDown');
    expect(await box.getAttribute('aria-expanded')).toBe('true');
    expect(await page.getByRole('status').innerText()).toMatch(/^\d+ found/);
    await page.keyboard.press('ArrowDown');
    const chosen = page.locator('[role=option][aria-selected=true]');
    expect(await chosen.count()).toBe(1);
    expect(await box.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'));
    await page.keyboard.press('ArrowUp');
    await shoot(page, 'reference-search');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#FoldResult\.iptm$/);
    expect(await page.evaluate('document.activeElement.id')).toBe('FoldResult.iptm');
    const top: number = await page.evaluate(
      'document.getElementById("FoldResult.iptm").getBoundingClientRect().top',
    );
    const bar: number = await page.evaluate(
      'document.querySelector("form.search").getBoundingClientRect().bottom',
    );
    expect(top).toBeGreaterThanOrEqual(bar);
    expect(top).toBeLessThan(300);
    await page.keyboard.press('/');
    await page.keyboard.type('xylophone quartz');
    expect(await page.getByRole('status').innerText()).toBe('nothing found');
    await page.keyboard.press('Escape');
    expect(await box.getAttribute('aria-expanded')).toBe('false');
    await box.fill('aligned error block');
    expect(await options.first().innerText()).toContain('PredictedAlignedError.block');
    expect(page.troubles).toEqual([]);
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('reads well in %s', async (colorScheme) => {
    const page = await site.open({ colorScheme, viewport: { width: 390, height: 800 } });
    await page.goto(`${site.url}reference`);
    expect(await faintTexts(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const levels = await headingLevels(page);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    await shoot(page, `reference-phone-${colorScheme}`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${site.url}reference#Protein`);
    await shoot(page, `reference-${colorScheme}`);
    expect(page.troubles).toEqual([]);
    await page.context().close();
  });

  it('is a plain long page without scripts', async () => {
    const page = await site.open({ javaScriptEnabled: false });
    await page.goto(`${site.url}reference`);
    expect(await page.getByRole('search').count()).toBe(0);
    await page
      .getByRole('navigation', { name: 'Types' })
      .getByRole('link', { name: 'Cluster', exact: true })
      .click();
    expect(await page.locator('section:target h2').innerText()).toContain('Cluster');
    await page.context().close();
  });
});

describe('the schema reference, as it is sent', () => {
  it('holds every type, field, argument, value and description, and leads nowhere wrong', async () => {
    const world = await openWorld();
    const response = await world.gateway.fetch(new Request('http://gateway.test/reference'));
    const text = await response.text();
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(anchors().filter((anchor) => !ids.includes(anchor))).toEqual([]);
    for (const [, target = ''] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    const words = unescaped(text.replace(/<[^>]+>/g, ''));
    for (const type of Object.values(schema.getTypeMap())) {
      const about =
        (type.description ?? '')
          .replaceAll('`', '')
          .split(/\n\s*\n/)[0]
          ?.trim() ?? '';
      if (!type.name.startsWith('__')) expect(words).toContain(about);
    }
    for (const { name } of readExamples()) expect(text).toContain(`graphql?example=${name}`);
    const tag = response.headers.get('etag') ?? '';
    const again = await world.gateway.fetch(
      new Request('http://gateway.test/reference', { headers: { 'if-none-match': tag } }),
    );
    expect(again.status).toBe(304);
    const sdl = await world.gateway.fetch(new Request('http://gateway.test/schema.graphql'));
    expect(await sdl.text()).toContain('type Protein implements Node');
    await world.close();
  });

  it('comes in an encoding that the client takes, with a tag for each encoding', async () => {
    const world = await openWorld();
    const get = (headers: Record<string, string>) =>
      world.gateway.fetch(new Request('http://gateway.test/reference', { headers }));
    const plain = await get({ 'accept-encoding': 'identity' });
    const text = await plain.text();
    const tags = new Set([plain.headers.get('etag')]);
    expect([text.slice(0, 15), plain.headers.get('content-encoding')]).toEqual(['<!doctype html>', null]);
    for (const [takes, encoding, decode] of [
      ['gzip, br', 'br', brotliDecompressSync],
      ['gzip;q=0.5', 'gzip', gunzipSync],
      ['gzip, br;q=0', 'gzip', gunzipSync],
      ['br; q=0.0', null, null],
    ] as const) {
      const answer = await get({ 'accept-encoding': takes });
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect([takes, answer.headers.get('content-encoding')]).toEqual([takes, encoding]);
      expect((decode === null ? bytes : decode(bytes)).toString()).toBe(text);
      expect(answer.headers.get('vary')).toContain('accept-encoding');
      const tag = answer.headers.get('etag') ?? '';
      tags.add(tag);
      const known = await get({ 'accept-encoding': takes, 'if-none-match': tag });
      expect([known.status, known.headers.get('content-encoding')]).toEqual([304, null]);
    }
    expect(tags.size).toBe(3);
    await world.close();
  });

  it('is closed where introspection is', async () => {
    const world = await openWorld({ INTROSPECTION: '0' });
    for (const path of ['/reference', '/schema.graphql']) {
      const response = await world.gateway.fetch(new Request(`http://gateway.test${path}`));
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining('INTROSPECTION'),
      ]);
    }
    await world.close();
  });
});
